import { AccessRole } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { pageLink } from '../assembly/reach.ts';
import { type Connection, connect } from './connect.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';
import { dateAndTime, table } from './terminal.ts';

export function addToken(program: Command, context: CliContext): void {
  const token = program.command('token').description('who else may look and steer, each by a token with a role');
  token
    .command('add <name>')
    .description('make a token; it is shown this once')
    .addOption(
      new Option('--role <role>', 'viewer looks, operator also steers, admin may do all, worker only takes work')
        .choices(AccessRole.options)
        .makeOptionMandatory(),
    )
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill token add ada --role operator\n  tidemill token add ci-box --role worker --json',
    )
    .action((name: string, options: Json & { role: AccessRole }) => add(context, name, options));
  token
    .command('list', { isDefault: true })
    .description('the tokens that were given out')
    .option(...jsonOption)
    .action((options: Json) => list(context, options));
  token
    .command('revoke <name>')
    .description('make a token worthless, at once')
    .option(...jsonOption)
    .action((name: string, options: Json) =>
      connected(context, async ({ api }) => {
        const answer = await api.revokeToken({ name });
        if (options.json) context.terminal.json(answer);
        else context.terminal.line(`The token of ${answer.revoked} opens nothing any more.`);
      }),
    );
}

async function add(context: CliContext, name: string, { role, json }: Json & { role: AccessRole }): Promise<void> {
  await connected(context, async ({ api, daemon }) => {
    const made = await api.addToken({ name, role });
    const link = daemon && pageLink({ url: daemon.publicUrl ?? daemon.url, token: made.token });
    if (json) return context.terminal.json({ ...made, link });
    const { line } = context.terminal;
    line(`${made.name} may now act as ${made.role}. The token is not shown again:`);
    line(`  ${made.token}`);
    line(link ? `Page: ${link}` : 'The page opens at the daemon’s address with /?token= and the token.');
  });
}

async function list(context: CliContext, { json }: Json): Promise<void> {
  await connected(context, async ({ api }) => {
    const all = await api.tokens({});
    const { line, width, json: print } = context.terminal;
    if (json) return print(all);
    if (all.length === 0) return line('None was given out: tidemill token add NAME --role ROLE');
    const rows = all.map(({ name, role, createdAt, lastUsedAt }) => [
      name,
      role,
      `made ${dateAndTime(createdAt)}`,
      lastUsedAt === null ? 'never used' : `last used ${dateAndTime(lastUsedAt)}`,
    ]);
    for (const text of table(rows, width)) line(text);
  });
}

/** Tokens belong to the data folder, not to the repository one stands in. */
async function connected(context: CliContext, work: (connection: Connection) => Promise<void>): Promise<void> {
  const connection = await connect(context.env);
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}
