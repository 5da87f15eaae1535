import { resolve } from 'node:path';
import type { Command } from 'commander';
import { openDataFolder } from '../config/data-folder.ts';
import type { CliContext, Json } from './context.ts';
import { EXIT } from './failure.ts';
import { startOrFind, stopOnSignals } from './host.ts';
import { watchProject } from './live.ts';

interface DemoFlags extends Json {
  exit?: boolean;
  dir?: string;
}

export function addDemo(program: Command, context: CliContext): void {
  program
    .command('demo')
    .description('watch eight tasks go through three agents in a sample repository')
    .option('--exit', 'end after the summary')
    .option('--dir <dir>', 'where to make the sample repository (default: in the data folder)')
    .option('--json', 'print one line of JSON with what happened')
    .addHelpText('after', '\nExamples:\n  tidemill demo\n  tidemill demo --exit --dir ./sample')
    .action((options: DemoFlags) => demo(context, options));
}

async function demo(context: CliContext, options: DemoFlags): Promise<void> {
  const { env, cwd, terminal } = context;
  const { running, started } = await startOrFind(env, 0);
  const api = running?.api ?? started!.api;
  const signals = started ? stopOnSignals(started, context) : null;
  const over = new AbortController();
  void started?.stopped.then(() => over.abort());
  const say = (line: string) => (options.json ? undefined : terminal.line(line));
  try {
    const { runDemo } = await import('../demo/demo.ts');
    const report = await runDemo({
      api,
      home: openDataFolder(env).path,
      dir: options.dir === undefined ? undefined : resolve(cwd, options.dir),
      howToCall: howToCall(env),
      say,
      watch: (project, signal) =>
        options.json ? Promise.resolve() : watchProject(api, project, terminal, { isPlain: false, signal }),
      signal: over.signal,
    });
    say('');
    for (const line of report.summary) say(line);
    if (options.json) terminal.json(report);
    if (!report.isComplete) context.setExitCode(EXIT.failure);
    if (started && !options.exit && !over.signal.aborted) {
      say('');
      say(`Still serving at ${started.info.url}. Ctrl-C stops it, work is kept.`);
      await started.stopped;
    }
  } finally {
    await started?.stop({ now: true });
    signals?.off();
  }
}

/** What a shell needs before `tidemill` means this program and this data folder. */
function howToCall(env: NodeJS.ProcessEnv): string[] {
  const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  const lines = env.TIDEMILL_HOME ? [`export TIDEMILL_HOME=${quoted(resolve(env.TIDEMILL_HOME))}`] : [];
  const program = process.argv[1] ?? '';
  // In a checkout nothing called tidemill is on the PATH.
  if (program.endsWith('main.ts'))
    lines.push(`alias tidemill=${quoted(`${quoted(process.execPath)} ${quoted(program)}`)}`);
  return lines;
}
