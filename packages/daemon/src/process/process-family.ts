import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChildHost } from './child.ts';
import { isOfRun, killLeaked, leakedProcesses } from './leaks.ts';
import { groupMembers, processRow, processUse, sendSignal } from './process-table.ts';

/** A child and everything it started. */
export interface ProcessFamily {
  /** Sends SIGTERM to all. Returns false when there is no process to receive it. */
  ask(): Promise<boolean>;
  kill(): void;
  /** Suspends all until thaw (SIGSTOP, SIGCONT), also those that left the group. */
  freeze(): void;
  thaw(): void;
  usage(): Promise<{ memoryMb: number; cpuMs: number }>;
  /** Resolves once the group is empty, or the signal aborts. */
  isGone(signal: AbortSignal): Promise<void>;
  /**
   * After the leader's exit: kills the remaining processes, also those that left the group, and waits until they are
   * gone.
   */
  sweep(): Promise<void>;
  /** False when the sandbox failed before it started the command. */
  hasRun(): Promise<boolean>;
}

const SWEEP_MS = 5000;
const STRAY_ROUNDS = 10;
const STRAY_PAUSE_MS = 20;

export function processFamilyOf(
  leader: number,
  about: { host: ChildHost; runId: string; status: unknown },
): ProcessFamily {
  const status = about.status instanceof Readable ? readStatus(about.status) : null;
  let isFrozen = false;
  /** Processes that left the group are found by their mark. The desired state may have changed by then. */
  const signalDetached = async (signal: 'SIGSTOP' | 'SIGCONT') => {
    let known = '';
    // A scan may miss a process that forks meanwhile, so it repeats until it finds no new one.
    for (let round = 0; round < STRAY_ROUNDS; round += 1) {
      const marked = (await leakedProcesses(about.host.homeId)).filter((each) => isOfRun(each, about.runId));
      if (isFrozen !== (signal === 'SIGSTOP')) return;
      for (const { pid } of marked) sendSignal(pid, signal);
      const seen = marked.map(({ pid }) => pid).join();
      if (round > 0 && seen === known) return;
      known = seen;
      await delay(STRAY_PAUSE_MS);
    }
  };
  const thaw = () => {
    if (!isFrozen) return;
    isFrozen = false;
    sendSignal(-leader, 'SIGCONT');
    void signalDetached('SIGCONT');
  };
  return {
    freeze() {
      isFrozen = true;
      sendSignal(-leader, 'SIGSTOP');
      void signalDetached('SIGSTOP');
    },
    thaw,
    async usage() {
      const used = (await groupMembers(leader)).map(processUse);
      const sum = (pick: (use: { memoryMb: number; cpuMs: number }) => number) =>
        used.reduce((total, use) => total + (use ? pick(use) : 0), 0);
      return { memoryMb: sum(({ memoryMb }) => memoryMb), cpuMs: sum(({ cpuMs }) => cpuMs) };
    },
    async ask() {
      // A suspended process would not react.
      thaw();
      if (!status) return sendSignal(-leader, 'SIGTERM');
      // A SIGTERM to bwrap would kill the whole sandbox at once, so only the processes inside get it.
      const init = status.init();
      const inside = (await groupMembers(leader)).filter((pid) => pid !== leader && pid !== init);
      return inside.filter((pid) => sendSignal(pid, 'SIGTERM')).length > 0;
    },
    kill() {
      // A suspended process ends, too. Nothing need be resumed, which would take scans of all processes.
      isFrozen = false;
      sendSignal(-leader, 'SIGKILL');
    },
    async isGone(signal) {
      while (!signal.aborted && (await groupMembers(leader)).length > 0) {
        await delay(20, undefined, { signal }).catch(() => undefined);
      }
    },
    async sweep() {
      const until = Date.now() + SWEEP_MS;
      for (let pause = 2; Date.now() < until; pause = Math.min(pause * 2, 50)) {
        sendSignal(-leader, 'SIGKILL');
        if ((await groupMembers(leader)).length === 0 && isNamespaceGone(status?.init() ?? null)) break;
        await delay(pause);
      }
      // In a sandbox, the end of the namespace ends all processes. Without one, a child may have left the group.
      if (!status) await killLeaked(about.host.homeId, (each) => !isOfRun(each, about.runId));
    },
    hasRun: async () => status === null || status.hasRun,
  };
}

/** The first process of a pid namespace ends after all others in it. */
function isNamespaceGone(init: number | null): boolean {
  if (init === null) return true;
  const row = processRow(init);
  return row === null || row.isZombie;
}

/** bwrap reports the sandbox's first process on this stream, and the exit code only if the command was started. */
function readStatus(stream: Readable): { init(): number | null; hasRun: Promise<boolean> } {
  let text = '';
  const hasRun = new Promise<boolean>((resolve) => {
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      text += chunk;
    });
    stream.once('close', () => resolve(text.includes('"exit-code"')));
    stream.on('error', () => stream.destroy());
  });
  return { init: () => Number(/"child-pid": (\d+)/.exec(text)?.[1] ?? 0) || null, hasRun };
}
