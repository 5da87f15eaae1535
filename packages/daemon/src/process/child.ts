import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessControl } from '../ports.ts';
import { type Family, familyOf } from './family.ts';
import { Hold } from './hold.ts';
import { type Launch, launchOf } from './launch.ts';
import { TimeLimit } from './time-limit.ts';

/**
 * The only place that starts agents and gates.
 *
 *   starting ──spawn──▶ running ──leader exits──▶ sweeping ──no descendant left──▶ draining ──▶ settled
 *                          └──stop, timeout──▶ terminating (SIGTERM, 5 s, SIGKILL) ──▲
 */

/** Where children run: the same for all agents and gates of a project. */
export interface ChildHost {
  /** The repository's root, as the person has it checked out. */
  root: string;
  /** Tidemill's data folder; worktrees lie in it. */
  dataDir: string;
  /** Marks every child, so that a later daemon knows what an earlier one left behind. */
  homeId: string;
  sandbox: 'auto' | 'off';
  /** Further places that the project's settings let children read in a sandbox. */
  readable?: string[];
}

export interface ChildSpec {
  host: ChildHost;
  runId: string;
  command: string[];
  cwd: string;
  env?: Record<string, string>;
  /** Wins over `env` inside a sandbox: where caches go when the home folder cannot be written to. */
  sandboxEnv?: Record<string, string>;
  /** Written and closed; or a function that takes the child's standard input over and talks to it for as long as it runs. */
  stdin?: string | ((input: Writable) => void);
  network: boolean;
  /** With the machine's proxies, certificates and package registries; see network-settings.ts. Not for agents. */
  networkSettings?: boolean;
  /** In a sandbox the worktree, too, can only be read: for work that must not change anything. */
  readOnlyWorktree?: boolean;
  readable?: string[];
  writable?: string[];
  /** In a sandbox: folders that look empty, but for what `readable` and `writable` name in them. */
  hidden?: string[];
  /** Time it stands still does not count. */
  timeoutMs: number;
  /** Between SIGTERM and SIGKILL; less than the usual five seconds where a part of them went into asking in another way. */
  graceMs?: number;
  signal?: AbortSignal;
  /** Given a hold on the child for as long as it runs. */
  control?: ProcessControl;
  /** While a returned promise is pending no more is read from that stream, and the child waits. */
  onOutput(chunk: Buffer, from: 'stdout' | 'stderr'): void | Promise<void>;
}

export type ChildEnd =
  | { kind: 'exited'; exitCode: number | null; signal: NodeJS.Signals | null }
  | { kind: 'stopped' }
  | { kind: 'timeout' }
  | { kind: 'unstartable'; message: string };

export interface Child {
  /** Settles when the child and all its descendants are gone. Rejects only when `onOutput` did. */
  readonly end: Promise<ChildEnd>;
  /** SIGTERM, five seconds, SIGKILL, the whole group. Resolves when all are gone. */
  stop(): Promise<void>;
}

const GRACE_MS = 5000;
const DRAIN_MS = 5000;

type Wish = 'stopped' | 'timeout';

export function startChild(spec: ChildSpec): Child {
  const wish = Promise.withResolvers<Wish>();
  const stop = () => wish.resolve('stopped');
  if (spec.signal?.aborted) stop();
  spec.signal?.addEventListener('abort', stop, { once: true });
  const limit = new TimeLimit(spec.timeoutMs, () => wish.resolve('timeout'));
  const hold = new Hold(limit, stop);
  const letGo = spec.control?.take(hold);
  const end = live(spec, wish.promise, hold).finally(() => {
    limit.kill();
    letGo?.();
    spec.signal?.removeEventListener('abort', stop);
  });
  return {
    end,
    stop: async () => {
      stop();
      await end.catch(() => undefined); // whoever awaits `end` gets the reason
    },
  };
}

async function live(spec: ChildSpec, wish: Promise<Wish>, hold: Hold): Promise<ChildEnd> {
  const launch = await launchOf(spec);
  if ('missing' in launch) return { kind: 'unstartable', message: launch.missing };
  const early = await Promise.race([wish, hold.mayBegin()]);
  if (early) return { kind: early };

  const started = await begin(spec, launch);
  if ('missing' in started) return { kind: 'unstartable', message: started.missing };
  const { child, pid } = started;
  const exited = new Promise<ChildEnd>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ kind: 'exited', exitCode, signal }));
  });
  const family = familyOf(pid, {
    host: spec.host,
    runId: spec.runId,
    status: launch.isSandboxed ? child.stdio[3] : null,
  });
  hold.begin(family);
  let lastWords = '';
  const streams = [
    drain(child.stdout, (chunk) => spec.onOutput(chunk, 'stdout')),
    drain(child.stderr, (chunk) => {
      if (launch.isSandboxed) lastWords = chunk.subarray(-300).toString('utf8').trim();
      return spec.onOutput(chunk, 'stderr');
    }),
  ];
  // finish() tells of a reader that failed. Until then nobody waits for these, and that must not end the daemon.
  for (const stream of streams) stream.catch(() => undefined);
  // A child that ends without reading its input breaks the pipe; its exit says all that matters.
  child.stdin?.on('error', () => undefined);
  if (typeof spec.stdin === 'function') spec.stdin(child.stdin!);
  else child.stdin?.end(spec.stdin ?? '');

  const first = await Promise.race([exited, wish]);
  if (typeof first === 'string') await terminate(family, exited, spec.graceMs ?? GRACE_MS);
  const last = await exited;
  await family.sweep();
  await finish(child, streams);
  if (typeof first === 'string') return { kind: first };
  if (await family.hasRun()) return last;
  return {
    kind: 'unstartable',
    message: `the sandbox could not start ${spec.command[0]}: ${lastWords || 'no reason given'}`,
  };
}

async function begin(
  spec: ChildSpec,
  launch: Launch,
): Promise<{ child: ChildProcess; pid: number } | { missing: string }> {
  try {
    const child = spawn(launch.file, launch.args, {
      cwd: spec.cwd,
      env: launch.env,
      detached: true, // a group of its own: signals reach all of it, and a terminal's Ctrl-C reaches none of it
      stdio: ['pipe', 'pipe', 'pipe', launch.isSandboxed ? 'pipe' : 'ignore'],
    });
    child.on('error', () => undefined); // without a listener a failed kill or start would be thrown at the daemon
    const { pid } = child;
    if (pid !== undefined) return { child, pid };
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve({ missing: `${spec.command[0]} could not be started: ${error.message}` }));
    });
  } catch (error) {
    return { missing: `${spec.command[0]} could not be started: ${(error as Error).message}` };
  }
}

async function terminate(family: Family, exited: Promise<unknown>, graceMs: number): Promise<void> {
  const over = new AbortController();
  const grace = delay(graceMs, undefined, { signal: over.signal }).catch(() => undefined);
  const asked = await family.ask();
  if (asked) await Promise.race([exited.then(() => family.isGone(over.signal)), grace]);
  over.abort();
  family.kill();
}

/** Reads to the end, whatever the reader does with it: a child must never hang because we stopped listening. */
async function drain(stream: Readable | null, read: (chunk: Buffer) => void | Promise<void>): Promise<void> {
  if (!stream) return;
  let failure: { error: unknown } | null = null;
  try {
    for await (const chunk of stream) {
      if (failure) continue;
      try {
        await read(chunk as Buffer);
      } catch (error) {
        failure = { error };
      }
    }
  } catch (error) {
    // finish() cuts a stream that somebody outside the family still holds open; what came before it is kept.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
  if (failure) throw failure.error;
}

async function finish(child: ChildProcess, streams: Promise<void>[]): Promise<void> {
  const timer = setTimeout(() => {
    for (const stream of child.stdio) stream?.destroy();
  }, DRAIN_MS);
  const settled = await Promise.allSettled(streams);
  clearTimeout(timer);
  child.stdin?.destroy();
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
