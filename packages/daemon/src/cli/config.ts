import { resolve } from 'node:path';
import type { ConfigText } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { oneLine } from './terminal.ts';
import { textFile } from './text-file.ts';

export function addConfig(program: Command, context: CliContext): void {
  const config = program.command('config').description("show or check the project's settings, .tidemill/config.yaml");
  config
    .command('show', { isDefault: true })
    .description('print the file and its warnings')
    .option(...jsonOption)
    .action((options: Json) => show(context, options));
  config
    .command('check [file]')
    .description("report errors in the project's config, or in another file")
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExits with 1 when the file has errors.\n\nExamples:\n  tidemill config check\n  tidemill config check /tmp/other.yaml --json',
    )
    .action((file: string | undefined, options: Json) => check(context, file, options));
}

async function show(context: CliContext, options: Json): Promise<void> {
  const { terminal } = context;
  await withProject(context, async (api, project) => {
    const config = await api.config({ project: project.id });
    if (options.json) return terminal.json(config);
    terminal.out.write(shownText(config, terminal.isLive));
    for (const warning of config.warnings) terminal.err.write(`tidemill: ${oneLine(warning)}\n`);
  });
}

/** On a terminal, control characters are removed; a file or a pipe gets the text unchanged. */
function shownText({ text }: ConfigText, isLive: boolean): string {
  const harmless = isLive ? text.replace(/[^\P{Cc}\n\t]/gu, '') : text;
  return harmless.endsWith('\n') ? harmless : `${harmless}\n`;
}

async function check(context: CliContext, file: string | undefined, options: Json): Promise<void> {
  const { terminal } = context;
  const path = file === undefined ? '' : resolve(context.cwd, file);
  const given = path === '' ? undefined : { path, text: await textFile(context, path) };
  await withProject(context, async (api, project) => {
    const { path: shown, text } = given ?? (await api.config({ project: project.id }));
    const result = await api.checkConfig({ project: project.id, text });
    if (result.problems.length > 0) context.setExitCode(1);
    if (options.json) return terminal.json(result);
    for (const { line, message } of result.problems)
      terminal.line(line === null ? message : `${shown}:${line}: ${message}`);
    for (const warning of result.warnings) terminal.line(`warning: ${warning}`);
    if (result.problems.length === 0) terminal.line(`${shown} is valid.`);
  });
}
