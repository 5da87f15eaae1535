import type { Command } from 'commander';
import { openDataFolder } from '../config/data-folder.ts';
import { inspectRepository } from '../git/repository.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';

export function addHooks(program: Command, context: CliContext): void {
  const hooks = program.command('hooks').description("the same guards for a person's own Claude Code sessions");
  hooks
    .command('install')
    .description("add the guard to the repository's .claude/settings.json")
    .option('--local', 'to .claude/settings.local.json instead, which is yours alone')
    .option(...jsonOption)
    .action((options: Json & { local?: boolean }) => install(context, options));
  hooks
    .command('uninstall')
    .description('remove exactly what install added')
    .option(...jsonOption)
    .action((options: Json) => uninstall(context, options));
  program
    .command('guard')
    .description('answer a PreToolUse hook of Claude Code: its JSON on standard input, exit code 2 refuses')
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
  const { file, command, changed } = result;
  terminal.line(changed ? `${file}: added, before every tool: ${command}` : `${file} has the guard already.`);
  if (!changed) return;
  terminal.line('  Claude Code sessions that start here from now on are held by the guards.');
  if (options.local) return;
  terminal.line('  Committed, it holds for everyone, and everyone needs tidemill: without it no tool runs.');
  if (!command.startsWith('tidemill '))
    terminal.line('  It names paths of this machine, as tidemill is not on the PATH; for yourself alone use --local.');
}

async function uninstall(context: CliContext, options: Json): Promise<void> {
  const { terminal } = context;
  const { uninstallHooks } = await import('../hooks/install.ts');
  const result = uninstallHooks(await surroundings(context));
  if (options.json) return terminal.json(result);
  if (result.files.length === 0) terminal.line('There is no guard of Tidemill in the settings here.');
  for (const file of result.files) terminal.line(`${file}: removed.`);
}
