import { AccessRole } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { pageLink } from '../assembly/reach.ts';
import { type Connection, connect } from './connect.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';
import { dateAndTime, table } from './terminal.ts';

export function addToken(program: Command, context: CliContext): void {
  const token = program.command('token').description('manage access tokens for other people and machines');
  token
    .command('add <name>')
    .description('create a token; it is shown once')
    .addOption(
      new Option(
        '--role <role>',
        'viewer reads, operator also manages work, admin may do everything, worker only takes work, agent reads and proposes',
      )
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
    .description('list tokens')
    .option(...jsonOption)
    .action((options: Json) => list(context, options));
  token
    .command('revoke <name>')
    .description('revoke a token at once')
    .option(...jsonOption)
    .action((name: string, options: Json) =>
      connected(context, async ({ api }) => {
        const answer = await api.revokeToken({ name });
        if (options.json) context.terminal.json(answer);
        else context.terminal.line(`Revoked the token of ${answer.revoked}.`);
      }),
    );
}

async function add(context: CliContext, name: string, { role, json }: Json & { role: AccessRole }): Promise<void> {
  await connected(context, async ({ api, daemon }) => {
    const made = await api.addToken({ name, role });
    const link = daemon && pageLink({ url: daemon.publicUrl ?? daemon.url, token: made.token });
    if (json) return context.terminal.json({ ...made, link });
    const { line } = context.terminal;
    line(`Created a token for ${made.name} (${made.role}). It is not shown again:`);
    line(`  ${made.token}`);
    line(link ? `Page: ${link}` : "Open the page at the daemon's address followed by /?token= and the token.");
  });
}

async function list(context: CliContext, { json }: Json): Promise<void> {
  await connected(context, async ({ api }) => {
    const all = await api.tokens({});
    const { line, width, json: print } = context.terminal;
    if (json) return print(all);
    if (all.length === 0) return line('No tokens yet. Create one with tidemill token add NAME --role ROLE');
    const rows = all.map(({ name, role, createdAt, lastUsedAt }) => [
      name,
      role,
      `created ${dateAndTime(createdAt)}`,
      lastUsedAt === null ? 'never used' : `last used ${dateAndTime(lastUsedAt)}`,
    ]);
    for (const text of table(rows, width)) line(text);
  });
}

/** Tokens belong to the data folder, not to a repository. */
async function connected(context: CliContext, work: (connection: Connection) => Promise<void>): Promise<void> {
  const connection = await connect(context.env);
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}
