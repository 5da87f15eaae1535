import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { installedLauncher } from '../scripts/installed-program.ts';
import { makeRepository } from './repository.ts';
import { timed } from './sample.ts';

const runToEnd = promisify(execFile);

/** The program as npm installs it, and as it runs from this checkout. */
const INSTALLED = await installedLauncher();
export const CHECKOUT = join(import.meta.dirname, '..', 'packages', 'daemon', 'bin', 'tidemill.mjs');

/** However the bench ends, none of its programs outlives it. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A program that says on its first line that it is ready. */
export interface RunningProgram {
  pid: number;
  line: string;
  /** From its start to that line. */
  readyMs: number;
  stop(): Promise<void>;
}

export async function startProgram(args: string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<RunningProgram> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const line = await firstLine(child);
  const readyMs = performance.now() - startedAt;
  return {
    pid: child.pid!,
    line,
    readyMs,
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  let complaints = '';
  child.stderr!.on('data', (chunk) => {
    complaints = (complaints + chunk).slice(-2000);
  });
  const said = once(createInterface({ input: child.stdout! }), 'line').then(([line]) => String(line));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`it ended with ${code} before it was ready: ${complaints}`);
  });
  return Promise.race([said, ended]);
}

/** A repository with a config whose agent is never asked: nothing is put into its queue. `more`: further lines of the config. */
export async function makeProject(root: string, more = ''): Promise<void> {
  await makeRepository(root);
  await mkdir(join(root, '.tidemill'));
  await writeFile(
    join(root, '.tidemill', 'config.yaml'),
    `target: main\nworkers: 3\npipeline: quick\nuntested: true\nagents:\n  default: { type: command, command: ["true"] }\n${more}`,
  );
}

/** `tidemill up --json`, as a person would start it, on a data folder of its own. */
export function startDaemon(
  root: string,
  home: string,
  workers = 3,
  launcher = INSTALLED,
  env: NodeJS.ProcessEnv = {},
): Promise<RunningProgram> {
  return startProgram([launcher, 'up', '--json', '--workers', String(workers)], root, {
    ...env,
    TIDEMILL_HOME: home,
    DATABASE_URL: '',
  });
}

/** Runs the installed program to its end; returns how long that took, in seconds. */
export async function commandSeconds(args: string[], root: string, home: string): Promise<number> {
  const env = { ...process.env, TIDEMILL_HOME: home, DATABASE_URL: '' };
  return (await timed(() => runToEnd(process.execPath, [INSTALLED, ...args], { cwd: root, env }))) / 1000;
}

/** Linux counts processor time in hundredths of a second. */
export const TICKS_PER_SECOND = 100;

/** Of the process alone, since its start; only Linux tells. */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name may hold spaces and parentheses; the fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Where the daemon of a data folder serves, and the token that lets one in. */
export async function addressOf(home: string): Promise<{ url: string; token: string }> {
  return JSON.parse(await readFile(join(home, 'daemon.json'), 'utf8')) as { url: string; token: string };
}
