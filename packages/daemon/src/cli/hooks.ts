import type { Command } from 'commander';
import { openDataFolder } from '../config/data-folder.ts';
import { inspectRepository } from '../git/repository.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';

export function addHooks(program: Command, context: CliContext): void {
  const hooks = program.command('hooks').description('use the guards in your own Claude Code sessions');
  hooks
    .command('install')
    .description("add the guard, the checks at start and stop, and two commands to the repository's .claude folder")
    .option('--local', 'use .claude/settings.local.json, which is not committed')
    .option(...jsonOption)
    .action((options: Json & { local?: boolean }) => install(context, options));
  hooks
    .command('uninstall')
    .description('remove what install added')
    .option(...jsonOption)
    .action((options: Json) => uninstall(context, options));
}

export function addGuard(program: Command): void {
  program
    .command('guard')
    .description('run as a hook of Claude Code: reads JSON from standard input, exits with 2 to refuse a tool')
    .action(async () => (await import('../hooks/guard-hook.ts')).runGuardHook());
}

async function surroundings({ cwd, env }: CliContext) {
  const { root } = await inspectRepository(cwd);
  return { root, dataDir: openDataFolder(env).path, env };
}

async function install(context: CliContext, options: Json & { local?: boolean }): Promise<void> {
  const { terminal } = context;
  const { installHooks } = await import('../hooks/install.ts');
  const result = await installHooks(await surroundings(context), options.local ?? false);
  if (options.json) return terminal.json(result);
  const { file, command, changed, gates, commands, kept } = result;
  terminal.line(changed ? `${file}: added hooks: ${command}` : `${file} already has the hooks.`);
  if (commands.length > 0) terminal.line(`${commands.join(', ')}: added /project-create and /project-start.`);
  if (commands.length > 0 && !command.startsWith('tidemill '))
    terminal.line('  They call tidemill, which must be on the PATH of the session.');
  for (const { file: left, why } of kept) terminal.line(`${left} is left as it is: ${why}.`);
  if (!changed) return;
  terminal.line('  In Claude Code sessions that start here from now on:');
  terminal.line('  - the guards check every tool before it runs');
  terminal.line('  - a session is told at its start what needs you, the open work, and what Tidemill has learned');
  terminal.line(
    '  - a prompt that corrects the agent ("no, …", "you forgot …") is kept, so that Tidemill learns from it',
  );
  terminal.line(
    gates.length > 0
      ? `  - a session that changed files is asked once to run the tests before it stops: ${gates.join(', ')}`
      : '  - nothing is checked when a session stops, because .tidemill/config.yaml has no gates',
  );
  if (options.local) return;
  terminal.line('  If you commit the file, everyone on the project needs tidemill: without it no tool runs.');
  if (!command.startsWith('tidemill '))
    terminal.line(
      '  It contains paths of this machine because tidemill is not on the PATH. Use --local to keep it private.',
    );
}

async function uninstall(context: CliContext, options: Json): Promise<void> {
  const { terminal } = context;
  const { uninstallHooks } = await import('../hooks/install.ts');
  const result = uninstallHooks(await surroundings(context));
  if (options.json) return terminal.json(result);
  if (result.files.length === 0 && result.kept.length === 0)
    terminal.line('No Tidemill guard is installed in the settings here.');
  for (const file of result.files) terminal.line(`${file}: removed.`);
  for (const { file, why } of result.kept) terminal.line(`${file} is left as it is: ${why}.`);
}
