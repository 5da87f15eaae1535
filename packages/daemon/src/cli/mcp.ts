import { AccessRole } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { buildVersion } from '../build-version.ts';
import { connect, projectAt } from './connect.ts';
import type { CliContext } from './context.ts';
import { personName } from './person.ts';

export function addMcp(program: Command, context: CliContext): void {
  program
    .command('mcp')
    .description('serve tasks, questions, evidence and logs to an MCP client on standard input and output')
    .addOption(
      new Option('--role <role>', 'what the client may do').choices(AccessRole.options).default('admin', 'everything'),
    )
    .action((options: { role: AccessRole }) => serve(context, options.role));
}

async function serve({ env, cwd, terminal }: CliContext, role: AccessRole): Promise<void> {
  // Loaded here: the protocol is large, and `tidemill mcp install` does not need it.
  const [{ serveOnStdio }, { localSession }] = await Promise.all([
    import('../mcp/stdio.ts'),
    import('../mcp/local-session.ts'),
  ]);
  const session = localSession({ connect: () => connect(env), projectAt, cwd, role, by: `${personName(env)} (MCP)` });
  await serveOnStdio(session, {
    version: await buildVersion(),
    onError: (error, what) =>
      void terminal.err.write(`tidemill: ${what}: ${error instanceof Error ? error.message : error}\n`),
  });
}
