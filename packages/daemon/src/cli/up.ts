import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, AppError, MAX_WORKERS } from '@tidemill/contract';
import type { Command } from 'commander';
import { pageLink } from '../assembly/reach.ts';
import { rootOf } from '../git/repository.ts';
import type { BindOptions } from '../http/bind.ts';
import { type CliContext, collect, integer, type Json } from './context.ts';
import { EXIT } from './failure.ts';
import { loadDaemon, type Reached, startOrFind, stopOnSignals } from './host.ts';
import { finishOthers, sayWhatIsLeft, untilIdle, whatIsLeft } from './idle.ts';
import { type OnNotice, watchProject } from './live.ts';

const STOP_PAUSE_MS = 20;
const SLOW_STOP_MS = 3_000;

interface UpOptions extends Json, BindOptions {
  untilIdle?: boolean;
  port?: number;
  workers?: number;
  plain?: boolean;
  takeOver?: boolean;
}

export function addUp(program: Command, context: CliContext): void {
  program
    .command('up')
    .description('start the daemon and work on this repository')
    .option('--until-idle', 'exit when no task can continue: with 0, or with 1 when something needs you')
    .option('--port <port>', 'the port to serve on (default: a free one)', integer(0, 65_535))
    .option('--host <address>', 'also serve other machines at this address (0.0.0.0 for all addresses)')
    .option('--tls-cert <file>', 'TLS certificate for --host, PEM')
    .option('--tls-key <file>', "the certificate's private key, PEM")
    .option('--insecure-http', 'serve other machines without encryption, on a network you trust')
    .option('--allow-host <name>', 'a host name that browsers may use for it (repeatable)', collect)
    .option('--workers <number>', 'number of builder agents (default: from the config)', integer(1, 1000))
    .option('--take-over', 'work on a repository that belongs to another data folder, which may not do so afterwards')
    .option('--plain', 'plain lines instead of a block that updates in place')
    .option('--json', 'print one line with url, pid, project and link when ready')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill up\n  tidemill up --workers 3 --until-idle\n  tidemill up --json > daemon.json &\n  tidemill up --host 0.0.0.0 --port 8443 --tls-cert cert.pem --tls-key key.pem --allow-host mill.example.org',
    )
    .action((options: UpOptions) => up(context, options));
}

async function up(context: CliContext, options: UpOptions): Promise<void> {
  // Loaded while git runs: most calls start the daemon, and joining a running one is not slower than starting one.
  const [root] = await Promise.all([rootOf(context.cwd), loadDaemon()]);
  const { running, started: daemon } = await startOrFind(
    context.env,
    options.port ?? 0,
    inFolder(options, context.cwd),
  );
  if (running) {
    const joined = await join(context, options, running, root);
    if (joined) return followRunning(context, options, running, joined);
    // The daemon was stopping when it was found; start a new one.
    await delay(STOP_PAUSE_MS);
    return up(context, options);
  }
  const interrupt = stopOnSignals(daemon, context);
  const leave = new AbortController();
  try {
    const { project, warnings } = await daemon.attach(root, workersOf(context, options), options.takeOver);
    const { info, link } = daemon;
    ready(context, options, { ...info, link, project: { id: project.id, name: project.name, root } }, warnings);
    const over = options.untilIdle ? untilIdle(daemon.api, project.id, leave.signal) : daemon.stopped;
    void daemon.stopped.then(() => leave.abort());
    const onNotice: OnNotice = (show) => daemon.onNotice(show);
    await watchUntil(context, options, daemon.api, project.id, Promise.race([over, daemon.stopped]), onNotice);
    const say = (line: string) => (options.json ? undefined : context.terminal.line(line));
    if (options.untilIdle && !leave.signal.aborted) {
      await finishOthers(daemon.api, project.id, leave.signal, say);
      await leaveToPerson(context, options, daemon.api, project.id);
    }
    leave.abort();
    await stopAloud(daemon, context);
  } catch (error) {
    await daemon.stop({ now: true });
    throw error;
  } finally {
    interrupt.off();
  }
}

/** A script learns by the exit code that the work is not finished without a person. */
async function leaveToPerson(context: CliContext, options: UpOptions, api: Api, project: string): Promise<void> {
  const what = await whatIsLeft(api, project);
  if (!options.json) sayWhatIsLeft(what, context.terminal);
  if (what.left.length > 0) context.setExitCode(EXIT.failure);
}

/** A stop ends running steps and removes temporary checkouts, which takes time where they are large. */
async function stopAloud(daemon: { stop(): Promise<void> }, { terminal }: CliContext): Promise<void> {
  const say = () => terminal.isLive && terminal.line('Stopping: temporary checkouts are removed.');
  const slow = setTimeout(say, SLOW_STOP_MS);
  try {
    await daemon.stop();
  } finally {
    clearTimeout(slow);
  }
}

/** Resolves file options against the current folder. */
function inFolder(options: BindOptions, cwd: string): BindOptions {
  const { host, tlsCert, tlsKey, insecureHttp, allowHost } = options;
  const file = (name: string | undefined) => (name === undefined ? undefined : resolve(cwd, name));
  return { host, tlsCert: file(tlsCert), tlsKey: file(tlsKey), insecureHttp, allowHost };
}

type Joined = Awaited<ReturnType<Api['attachProject']>>;

/** A second `up` joins another repository to the running daemon, which refuses the same one. Null when it is stopping. */
async function join(
  context: CliContext,
  options: UpOptions,
  { api, daemon }: Reached,
  root: string,
): Promise<Joined | null> {
  const names = { port: '--port', host: '--host', tlsCert: '--tls-cert', allowHost: '--allow-host' };
  const ignored = Object.entries(names).flatMap(([key, name]) => (options[key as keyof typeof names] ? [name] : []));
  if (ignored.length > 0) {
    const verb = ignored.length > 1 ? 'are' : 'is';
    context.terminal.err.write(
      `tidemill: ${ignored.join(', ')} ${verb} ignored: a daemon already serves at ${daemon.url}\n`,
    );
  }
  try {
    return await api.attachProject({ root, workers: workersOf(context, options), takeOver: options.takeOver });
  } catch (error) {
    if (error instanceof AppError && error.code === 'daemon_unreachable') return null;
    throw error;
  }
}

async function followRunning(
  context: CliContext,
  options: UpOptions,
  { api, daemon }: Reached,
  { project, warnings }: Joined,
): Promise<void> {
  const { pid, url, publicUrl } = daemon;
  const { id, name, root } = project;
  ready(context, options, { pid, url, publicUrl, link: pageLink(daemon), project: { id, name, root } }, warnings);
  if (!options.json) context.terminal.line('Joined the running daemon. Ctrl-C leaves it running.');
  const leave = new AbortController();
  const over = options.untilIdle ? untilIdle(api, project.id, leave.signal) : gone(api, project.id, leave.signal);
  await watchUntil(context, options, api, project.id, over);
  if (options.untilIdle) await leaveToPerson(context, options, api, project.id);
  leave.abort();
}

/** Resolves when the daemon ends, because its event stream ends with it. */
async function gone(api: Api, project: string, signal: AbortSignal): Promise<void> {
  const { lastSeq } = await api.status({ project });
  const seen = api.events({ project, after: lastSeq, follow: true, types: ['project.registered'] }, signal);
  try {
    for await (const _ of seen);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'daemon_unreachable')) throw error;
  }
}

async function watchUntil(
  { terminal }: CliContext,
  options: UpOptions,
  api: Api,
  projectId: string,
  over: Promise<void>,
  onNotice?: OnNotice,
): Promise<void> {
  if (options.json) {
    const off = onNotice?.((text) => void terminal.err.write(`${text}\n`));
    return over.finally(() => off?.());
  }
  const watching = new AbortController();
  const watch = watchProject(api, projectId, terminal, {
    isPlain: options.plain ?? false,
    signal: watching.signal,
    onNotice,
  }).catch((error: unknown) => {
    // When the daemon stops, the store closes before the watcher ends. That is not a failure.
    if (!watching.signal.aborted && !(error instanceof AppError)) throw error;
  });
  await over;
  watching.abort();
  await watch;
}

function workersOf({ terminal }: CliContext, { workers }: UpOptions): number | undefined {
  if (workers !== undefined && workers > MAX_WORKERS) {
    terminal.err.write(
      `tidemill: a project has at most ${MAX_WORKERS} workers; starting ${MAX_WORKERS} instead of ${workers}\n`,
    );
    return MAX_WORKERS;
  }
  return workers;
}

function ready(
  { terminal }: CliContext,
  options: UpOptions,
  at: {
    url: string;
    publicUrl: string | null;
    pid: number;
    link: string;
    project: { id: string; name: string; root: string };
  },
  warnings: string[],
): void {
  for (const warning of warnings) terminal.err.write(`${terminal.paint('yellow', 'tidemill:')} ${warning}\n`);
  const { url, publicUrl, pid, link, project } = at;
  if (options.json) terminal.json({ url, publicUrl, pid, project, link });
  else {
    terminal.line(`Tidemill is working on ${project.name}: ${url}, pid ${pid}. Press Ctrl-C to stop. Work is kept.`);
    terminal.line(`Page: ${link}`);
    if (publicUrl) terminal.line(`From other machines: ${publicUrl}, with a token (tidemill token list).`);
  }
}
