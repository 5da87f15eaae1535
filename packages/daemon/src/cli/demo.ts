import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { pageLink } from '../assembly/reach.ts';
import { openDataFolder } from '../config/data-folder.ts';
import { quoted } from '../demo/summary.ts';
import type { CliContext, Json } from './context.ts';
import { EXIT } from './failure.ts';
import { startOrFind, stopOnSignals } from './host.ts';
import { finishOthers } from './idle.ts';
import { watchProject } from './live.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface DemoFlags extends Json {
  exit?: boolean;
  dir?: string;
}

export function addDemo(program: Command, context: CliContext): void {
  program
    .command('demo')
    .description('take an idea to landed code with three agents in a sample repository')
    .option('--exit', 'exit after the summary')
    .option('--dir <dir>', 'where to create the sample repository (default: in the data folder)')
    .option('--json', 'print the result as one line of JSON')
    .addHelpText('after', '\nExamples:\n  tidemill demo\n  tidemill demo --exit --dir ./sample')
    .action((options: DemoFlags) => demo(context, options));
}

async function demo(context: CliContext, options: DemoFlags): Promise<void> {
  const { env, cwd, terminal } = context;
  const { running, started } = await startOrFind(env, 0);
  const api = running?.api ?? started!.api;
  const over = new AbortController();
  const leave = () => over.abort();
  // Registered before the daemon's handler, so that the demo closes its streams before the store closes.
  for (const signal of SIGNALS) process.once(signal, leave);
  const signals = started ? stopOnSignals(started, context) : null;
  void started?.stopped.then(leave);
  const say = (line: string) => (options.json ? undefined : terminal.line(line));
  const link = running ? pageLink(running.daemon) : started!.link;
  try {
    say(`Page: ${link}`);
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
      say('Still running. Press Ctrl-C to stop. Work is kept.');
      say(`Page: ${link}`);
      await started.stopped;
    }
    if (started && options.exit) await finishOthers(api, report.projectId, over.signal, say);
  } finally {
    await started?.stop();
    signals?.off();
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}

/** Shell lines that make `tidemill` run this program on this data folder. */
function howToCall(env: NodeJS.ProcessEnv): string[] {
  const lines = env.TIDEMILL_HOME ? [`export TIDEMILL_HOME=${quoted(openDataFolder(env).path)}`] : [];
  const launcher = join(dirname(process.argv[1] ?? ''), '..', 'bin', 'tidemill.mjs');
  if (isOnPath(env) || !existsSync(launcher)) return lines;
  return [...lines, `alias tidemill=${quoted(`node ${quoted(launcher)}`)}`];
}

/** npm puts node_modules/.bin on PATH only for what it runs itself; a person's shell does not have it. */
function isOnPath(env: NodeJS.ProcessEnv): boolean {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder && !folder.includes('node_modules'));
  return folders.some((folder) => existsSync(join(folder, 'tidemill')));
}
