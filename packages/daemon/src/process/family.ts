import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChildHost } from './child.ts';
import { isOfRun, killLeaked, leakedProcesses } from './leaks.ts';
import { groupMembers, processRow, processUse, sendSignal } from './process-table.ts';

/** A child and everything it started. */
export interface Family {
  /** Asks all to end (SIGTERM). False when nobody is there who could hear it. */
  ask(): Promise<boolean>;
  kill(): void;
  /** All stand still until thawed (SIGSTOP, SIGCONT), also those that left the group. */
  freeze(): void;
  thaw(): void;
  usage(): Promise<{ memoryMb: number; cpuMs: number }>;
  /** Resolves once the group is empty, or the signal aborts. */
  isGone(signal: AbortSignal): Promise<void>;
  /** After the leader's exit: ends whoever is left, also those that left the group, and waits until they are gone. */
  sweep(): Promise<void>;
  /** False when a sandbox gave up before it started the command. */
  hasRun(): Promise<boolean>;
}

const SWEEP_MS = 5000;
const STRAY_ROUNDS = 10;
const STRAY_PAUSE_MS = 20;

export function familyOf(leader: number, about: { host: ChildHost; runId: string; status: unknown }): Family {
  const status = about.status instanceof Readable ? readStatus(about.status) : null;
  let isFrozen = false;
  /** Those that left the group are found by their mark; by then the wind may have turned. */
  const signalStrays = async (signal: 'SIGSTOP' | 'SIGCONT') => {
    let known = '';
    // One that starts another program, or forks, while we look may be missed: again until a look shows nobody new.
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
    void signalStrays('SIGCONT');
  };
  return {
    freeze() {
      isFrozen = true;
      sendSignal(-leader, 'SIGSTOP');
      void signalStrays('SIGSTOP');
    },
    thaw,
    async usage() {
      const used = (await groupMembers(leader)).map(processUse);
      const sum = (pick: (use: { memoryMb: number; cpuMs: number }) => number) =>
        used.reduce((total, use) => total + (use ? pick(use) : 0), 0);
      return { memoryMb: sum(({ memoryMb }) => memoryMb), cpuMs: sum(({ cpuMs }) => cpuMs) };
    },
    async ask() {
      // One that stands still would not hear it.
      thaw();
      if (!status) return sendSignal(-leader, 'SIGTERM');
      // A SIGTERM would end bwrap itself, and with it at once all that it guards: only those inside are asked.
      const init = status.init();
      const inside = (await groupMembers(leader)).filter((pid) => pid !== leader && pid !== init);
      return inside.filter((pid) => sendSignal(pid, 'SIGTERM')).length > 0;
    },
    kill: () => void sendSignal(-leader, 'SIGKILL'),
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
      // In a sandbox the namespace's end is everybody's end; without one a child may have left the group.
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

/** bwrap tells on this stream who is the sandbox's first process and, only if the command was started, its exit code. */
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
