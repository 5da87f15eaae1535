import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { makeSample } from '../packages/daemon/src/demo/sample.ts';

// `npm run dev`: the daemon on a sample project, restarted when its sources change, and the page with hot reload.
//   npm run dev -- --home FOLDER     another data folder than .tidemill-dev; remove the folder to start again
// Ctrl-C ends both.

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { home: { type: 'string', default: join(root, '.tidemill-dev') } } });
const home = resolve(values.home);
const sample = join(home, 'sample');
const WATCHED = ['contract', 'core', 'daemon'].map((name) => join(root, 'packages', name, 'src'));
const MAIN = join(root, 'packages', 'daemon', 'src', 'main.ts');
/** An editor may write several files at once: one restart is enough. */
const QUIET_MS = 150;
/** The daemon stops gracefully on the first signal, at once on the second, and exits on the third. */
const STOP_SIGNALS_AT_MS = [0, 300, 5000];

const say = (text: string) => console.log(`dev: ${text}`);
const env = { ...process.env, TIDEMILL_HOME: home };

const tidemill = (...args: string[]) =>
  execFileSync(process.execPath, [MAIN, ...args], { cwd: sample, env }).toString();

async function ensureSample(): Promise<void> {
  if (existsSync(join(sample, '.git'))) return;
  mkdirSync(home, { recursive: true });
  await makeSample({ home, dir: sample });
  tidemill('idea', '--no-wait', 'The almanac should tell when the mill can grind.');
  say(`made a sample project with an idea in ${sample}`);
}

/** The daemon's own token changes with every start. This one does not, so that an open page survives a restart. */
function pageToken(): string {
  const file = join(home, 'dev-token');
  if (!existsSync(file)) {
    const { token } = JSON.parse(tidemill('token', 'add', 'dev', '--role', 'admin', '--json')) as { token: string };
    writeFileSync(file, token, { mode: 0o600 });
  }
  return readFileSync(file, 'utf8');
}

/** The preferred port if it is free, otherwise any free one. It stays the same across restarts. */
async function freePort(preferred: number): Promise<number> {
  const server = createServer();
  server.listen(preferred, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return freePort(0);
  }
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/**
 * In its own process group: the terminal's Ctrl-C must reach it only once, through this program. When this program is
 * killed, the preloaded module ends the child.
 */
function start(args: string[], cwd: string, more: NodeJS.ProcessEnv = {}): ChildProcess {
  const preload = ['--import', join(root, 'packages', 'daemon', 'bin', 'die-with-launcher.mjs')];
  return spawn(process.execPath, [...preload, ...args], {
    cwd,
    env: { ...env, ...more },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const timers = STOP_SIGNALS_AT_MS.map((ms) => setTimeout(() => child.kill('SIGTERM'), ms));
  await ended;
  for (const timer of timers) clearTimeout(timer);
}

/** Resolves after a source of the daemon has changed and no other change follows for a short time. */
function nextChange(): { happened: Promise<string>; close(): void } {
  let timer: NodeJS.Timeout | undefined;
  const { promise, resolve: happen } = Promise.withResolvers<string>();
  const watchers = WATCHED.map((folder) =>
    watch(folder, { recursive: true }, (_event, name) => {
      if (!name || /\.test\.ts$/.test(name)) return;
      clearTimeout(timer);
      timer = setTimeout(() => happen(name), QUIET_MS);
    }),
  );
  const close = () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
  return { happened: promise, close };
}

async function runDaemon(port: number, over: Promise<void>): Promise<void> {
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const change = nextChange();
    const child = start([MAIN, 'up', '--json', '--port', String(port)], sample);
    createInterface(child.stdout!).on('line', (line) => {
      const pid = /^{.*"pid":(\d+)/.exec(line)?.[1];
      if (pid) say(`daemon ready (pid ${pid})`);
      else console.log(line);
    });
    const ended = once(child, 'exit').then(() => null);
    let name = await Promise.race([change.happened, ended, over.then(() => null)]);
    if (name === null && !isOver) {
      say('daemon ended: it starts again on the next change');
      name = await Promise.race([change.happened, over.then(() => null)]);
    }
    change.close();
    if (name !== null) say(`${name} changed: restarting the daemon`);
    await stop(child);
  }
}

await ensureSample();
const token = pageToken();
const [daemonPort, pagePort] = [await freePort(4870), await freePort(5173)];
const over = new Promise<void>((done) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => done());
});
const vite = start(
  [join(root, 'node_modules', 'vite', 'bin', 'vite.js'), '--logLevel', 'warn', '--clearScreen', 'false'],
  join(root, 'packages', 'web'),
  {
    TIDEMILL_DEV: JSON.stringify({ daemon: `http://127.0.0.1:${daemonPort}`, port: pagePort }),
    NODE_ENV: 'development',
  },
);
vite.stdout!.pipe(process.stdout);
const viteEnded = once(vite, 'exit').then(() => say('the development server of the page ended'));
say(`page with hot reload: http://127.0.0.1:${pagePort}/?token=${token}`);
await runDaemon(daemonPort, Promise.race([over, viteEnded]));
await stop(vite);
