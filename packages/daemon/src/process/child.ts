import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, type Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { UseLimits } from '@tidemill/contract';
import type { ProcessControl } from '../ports.ts';
import { type Launch, launchOf } from './launch.ts';
import { TRACE_STREAM } from './observe.ts';
import { type ProcessFamily, processFamilyOf } from './process-family.ts';
import { ProcessHold } from './process-hold.ts';
import { TimeLimit } from './time-limit.ts';
import { watchUse } from './use-watch.ts';

/**
 * The only place that starts agents and gates.
 *
 *   starting ──spawn──▶ running ──leader exits──▶ sweeping ──no descendant left──▶ draining ──▶ settled
 *                          ├──stop, timeout──▶ terminating (SIGTERM, 5 s, SIGKILL) ──▲
 *                          └──over a limit of memory or processes──▶ SIGKILL ────────┘
 */

/** The environment of child processes, the same for all agents and gates of a project. */
export interface ChildHost {
  /** The root of the person's checkout. */
  root: string;
  /** Tidemill's data folder, which contains the worktrees. */
  dataDir: string;
  /** Marks every child, so that a later daemon finds processes that an earlier one left. */
  homeId: string;
  sandbox: 'auto' | 'off';
  /** Additional paths that the settings make readable in a sandbox. */
  readable?: string[];
  /** How much one child may use, with everything it starts. Left out: the defaults. */
  limits?: UseLimits;
}

export interface ChildSpec {
  host: ChildHost;
  runId: string;
  command: string[];
  cwd: string;
  env?: Record<string, string>;
  /** Overrides `env` inside a sandbox: cache folders, because the home folder is read-only. */
  sandboxEnv?: Record<string, string>;
  /** Text that is written to standard input, or a function that takes over standard input while the child runs. */
  stdin?: string | ((input: Writable) => void);
  network: boolean;
  /** With the machine's proxies, certificates and package registries; see network-settings.ts. Not for agents. */
  networkSettings?: boolean;
  /** In a sandbox the worktree is read-only too: for work that must not change anything. */
  readOnlyWorktree?: boolean;
  /**
   * In a sandbox, a clean checkout is shown as a clone of the project at a plain path, without variables of Tidemill
   * except those that `pass` names: work must not find out where it is proven.
   */
  asClone?: { pass: readonly string[]; isMoved?: boolean };
  readable?: string[];
  writable?: string[];
  /** In a sandbox: folders that look empty, except for paths in `readable` and `writable`. */
  hidden?: string[];
  /** Time while suspended does not count. */
  timeoutMs: number;
  /**
   * Time between SIGTERM and SIGKILL. Less than the usual five seconds when part of it was used for another stop
   * request.
   */
  graceMs?: number;
  signal?: AbortSignal;
  /** Registers the child while it runs. */
  control?: ProcessControl;
  /** While a returned promise is pending, nothing is read from that stream, and the child waits. */
  onOutput(chunk: Buffer, from: 'stdout' | 'stderr'): void | Promise<void>;
  /** The child is traced by strace, and this gets what strace writes; see observe.ts. */
  onTrace?(chunk: Buffer): void;
}

export type ChildEnd =
  | { kind: 'exited'; exitCode: number | null; signal: NodeJS.Signals | null }
  | { kind: 'stopped' }
  | { kind: 'timeout' }
  /** It used more memory or processes than it may. The message continues a sentence about it. */
  | { kind: 'over_limit'; message: string }
  | { kind: 'unstartable'; message: string };

export interface Child {
  /** Settles when the child and all its descendants are gone. Rejects only when `onOutput` did. */
  readonly end: Promise<ChildEnd>;
  /** Sends SIGTERM, after five seconds SIGKILL, to the whole group. Resolves when all are gone. */
  stop(): Promise<void>;
}

const GRACE_MS = 5000;
const DRAIN_MS = 5000;

type StopReason = Exclude<ChildEnd, { kind: 'exited' | 'unstartable' }>;

export function startChild(spec: ChildSpec): Child {
  const stopReason = Promise.withResolvers<StopReason>();
  const stop = () => stopReason.resolve({ kind: 'stopped' });
  if (spec.signal?.aborted) stop();
  spec.signal?.addEventListener('abort', stop, { once: true });
  const limit = new TimeLimit(spec.timeoutMs, () => stopReason.resolve({ kind: 'timeout' }));
  const hold = new ProcessHold(limit, stop);
  const letGo = spec.control?.take(hold);
  const end = live(spec, stopReason, hold).finally(() => {
    limit.kill();
    letGo?.();
    spec.signal?.removeEventListener('abort', stop);
  });
  return {
    end,
    stop: async () => {
      stop();
      await end.catch(() => undefined); // the caller that awaits `end` gets the error
    },
  };
}

async function live(
  spec: ChildSpec,
  stopReason: PromiseWithResolvers<StopReason>,
  hold: ProcessHold,
): Promise<ChildEnd> {
  const launch = await launchOf(spec);
  if ('missing' in launch) return { kind: 'unstartable', message: launch.missing };
  const early = await Promise.race([stopReason.promise, hold.mayBegin()]);
  if (early) return early;

  const started = await begin(spec, launch);
  if ('missing' in started) return { kind: 'unstartable', message: started.missing };
  const { child, pid } = started;
  const exited = new Promise<ChildEnd>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ kind: 'exited', exitCode, signal }));
  });
  const family = processFamilyOf(pid, {
    host: spec.host,
    runId: spec.runId,
    status: launch.isSandboxed ? child.stdio[3] : null,
  });
  hold.begin(family);
  const unwatch = watchUse(pid, spec.host.limits, (message) => stopReason.resolve({ kind: 'over_limit', message }));
  let lastOutput = '';
  const streams = [
    drain(child.stdout, (chunk) => spec.onOutput(chunk, 'stdout')),
    drain(child.stderr, (chunk) => {
      if (launch.isSandboxed) lastOutput = chunk.subarray(-300).toString('utf8').trim();
      return spec.onOutput(chunk, 'stderr');
    }),
  ];
  const traced = child.stdio[TRACE_STREAM];
  if (traced instanceof Readable) streams.push(drain(traced, async (chunk) => spec.onTrace?.(chunk)));
  // finish() reports a failed reader. Until then these promises are not awaited, and a rejection must not end the
  // daemon.
  for (const stream of streams) stream.catch(() => undefined);
  // A child that ends without reading its input breaks the pipe. Only its exit code matters.
  child.stdin?.on('error', () => undefined);
  if (typeof spec.stdin === 'function') spec.stdin(child.stdin!);
  else child.stdin?.end(spec.stdin ?? '');

  const first = await Promise.race([exited, stopReason.promise]);
  unwatch();
  // What grows beyond its limit would go on growing.
  if (first.kind === 'over_limit') family.kill();
  else if (first.kind !== 'exited') await terminate(family, exited, spec.graceMs ?? GRACE_MS);
  const last = await exited;
  await family.sweep();
  await finish(child, streams);
  if (first.kind !== 'exited') return first;
  // A sandbox that cannot start exits with a code. A signal came from outside: short memory, or another program.
  if ((last.kind === 'exited' && last.signal !== null) || (await family.hasRun())) return last;
  return {
    kind: 'unstartable',
    message: `the sandbox could not start ${spec.command[0]}: ${lastOutput || 'no reason given'}`,
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
      detached: true, // its own process group: signals reach all of it, and a terminal's Ctrl-C does not
      stdio: [
        ...(['pipe', 'pipe', 'pipe', launch.isSandboxed ? 'pipe' : 'ignore'] as const),
        ...(spec.onTrace ? (['pipe'] as const) : []),
      ],
    });
    child.on('error', () => undefined); // without a listener a failed kill or start would crash the daemon
    const { pid } = child;
    if (pid !== undefined) return { child, pid };
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve({ missing: `${spec.command[0]} could not be started: ${error.message}` }));
    });
  } catch (error) {
    return { missing: `${spec.command[0]} could not be started: ${(error as Error).message}` };
  }
}

async function terminate(family: ProcessFamily, exited: Promise<unknown>, graceMs: number): Promise<void> {
  const over = new AbortController();
  const grace = delay(graceMs, undefined, { signal: over.signal }).catch(() => undefined);
  const asked = await family.ask();
  if (asked) await Promise.race([exited.then(() => family.isGone(over.signal)), grace]);
  over.abort();
  family.kill();
}

/** Reads to the end even if the reader fails: a child must never hang on a full pipe. */
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
    // finish() closes a stream that another process still holds open. The output so far is kept.
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
