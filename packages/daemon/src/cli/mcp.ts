import { AccessRole } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { buildVersion } from '../build-version.ts';
import { CLIENTS, type ClientName, clients } from '../clients/client.ts';
import { rootOf } from '../git/repository.ts';
import { agentOfRun } from '../process/environment.ts';
import { connect, projectAt } from './connect.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';
import { personName } from './person.ts';

const ROLE = () => new Option('--role <role>', 'what the client may do').choices(AccessRole.options);

interface InstallOptions extends Json {
  client: ClientName;
  project?: boolean;
  role?: AccessRole;
}

export function addMcp(program: Command, context: CliContext): void {
  const mcp = program
    .command('mcp')
    .description("serve Tidemill's tools to an MCP client on standard input and output")
    .addOption(ROLE().default('agent', 'agent: reads, adds and proposes; you are asked for decisions'))
    .action((options: { role: AccessRole }) => serve(context, options.role));
  const client = () => new Option('--client <name>', 'whose configuration').choices(CLIENTS).makeOptionMandatory();
  mcp
    .command('install')
    .description("add the server to a client's own configuration")
    .addOption(client())
    .option('--project', "write to the repository's configuration instead of the user's")
    .addOption(ROLE())
    .option(...jsonOption)
    .action((options: InstallOptions) => install(context, options));
  mcp
    .command('uninstall')
    .description('remove what install added')
    .addOption(client())
    .option('--project', "from the repository's configuration instead of the user's")
    .option(...jsonOption)
    .action((options: InstallOptions) => uninstall(context, options));
}

async function serve({ env, cwd, terminal }: CliContext, role: AccessRole): Promise<void> {
  // Loaded here: the protocol is large, and `tidemill mcp install` does not need it.
  const [{ serveOnStdio }, { localSession }] = await Promise.all([
    import('../mcp/stdio.ts'),
    import('../mcp/local-session.ts'),
  ]);
  const session = localSession({
    connect: (agent) => connect(env, agent),
    ...{ projectAt, cwd, role, by: personName(env), hasPerson: agentOfRun(env) === null },
  });
  await serveOnStdio(session, {
    version: await buildVersion(),
    onError: (error, what) =>
      void terminal.err.write(`tidemill: ${what}: ${error instanceof Error ? error.message : error}\n`),
  });
}

const placeOf = async ({ env, cwd }: CliContext, { client, project }: InstallOptions) => ({
  client,
  env,
  root: project ? await rootOf(cwd) : null,
});

async function install(context: CliContext, options: InstallOptions): Promise<void> {
  const { terminal } = context;
  const { installClient } = await import('../clients/install.ts');
  const { client, role } = options;
  const result = installClient(await placeOf(context, options), role ? ['--role', role] : []);
  if (options.json) return terminal.json({ client, ...result });
  const { title, next } = clients[client];
  if (!result.changed) return terminal.line(`${result.file} already has the server.`);
  terminal.line(`${result.file}: added the server "tidemill" for ${title}.`);
  terminal.line(`  ${next}`);
  terminal.line(`  Undo: tidemill mcp uninstall --client ${client}${options.project ? ' --project' : ''}`);
}

async function uninstall(context: CliContext, options: InstallOptions): Promise<void> {
  const { terminal } = context;
  const { uninstallClient } = await import('../clients/install.ts');
  const result = uninstallClient(await placeOf(context, options));
  if (options.json) return terminal.json({ client: options.client, ...result });
  terminal.line(result.changed ? `${result.file}: removed.` : `${result.file} has no server "tidemill".`);
}
