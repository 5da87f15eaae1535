import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { HOME_MARK, RUN_MARK } from './environment.ts';
import { hasProcessTable, type ProcessRow, processTable, sendSignal } from './process-table.ts';

/** A process that carries a data folder's mark. Whether it is a leak depends on whether its run is still alive. */
export interface MarkedProcess {
  pid: number;
  runId: string;
  command: string;
  /** The nearest ancestor without the mark: the daemon that runs it, or whoever inherited the orphan. */
  ownerPid: number;
}

/** Why `leakedProcesses` cannot find anything here, or null where it can. */
export const leakScanObstacle = hasProcessTable
  ? null
  : `leaked processes cannot be looked for on ${process.platform}: there is no /proc`;

/**
 * Every process started for this data folder and still running, found by the environment it inherited. That catches
 * grandchildren that left their process group, and also those inside a sandbox's pid namespace.
 */
export async function leakedProcesses(homeId: string): Promise<MarkedProcess[]> {
  if (!hasProcessTable) return [];
  const table = new Map((await processTable()).map((row) => [row.pid, row]));
  const spared = withAncestors(process.pid, table);
  const marked = new Map<number, { runId: string }>();
  await Promise.all(
    [...table.values()].map(async (row) => {
      if (row.isZombie || spared.has(row.pid)) return;
      const runId = await runOf(row.pid, homeId);
      if (runId !== null) marked.set(row.pid, { runId });
    }),
  );
  return Promise.all(
    [...marked].map(async ([pid, { runId }]) => ({
      pid,
      runId,
      command: await commandOf(pid),
      ownerPid: ownerOf(pid, table, marked),
    })),
  );
}

/** Kills what `leakedProcesses` finds, but for runs that `isAlive` knows; returns what was killed. */
export async function killLeaked(
  homeId: string,
  isAlive: (runId: string) => boolean = () => false,
): Promise<MarkedProcess[]> {
  const killed = new Map<number, MarkedProcess>();
  // A process may fork while we look, so this repeats until a look finds nothing.
  for (let round = 0; round < 50; round++) {
    const found = (await leakedProcesses(homeId)).filter((leak) => !isAlive(leak.runId));
    if (found.length === 0) break;
    for (const leak of found) {
      sendSignal(leak.pid, 'SIGKILL');
      killed.set(leak.pid, leak);
    }
    await delay(Math.min(5 * (round + 1), 50));
  }
  return [...killed.values()];
}

/** This process and those above it: a scan run from inside an agent must not kill the hand that started it. */
function withAncestors(pid: number, table: Map<number, ProcessRow>): Set<number> {
  const line = new Set<number>();
  for (let at = table.get(pid); at && !line.has(at.pid); at = table.get(at.parent)) line.add(at.pid);
  line.add(pid);
  return line;
}

function ownerOf(pid: number, table: Map<number, ProcessRow>, marked: Map<number, unknown>): number {
  let at = table.get(pid);
  while (at && marked.has(at.pid)) at = table.get(at.parent);
  return at?.pid ?? 0;
}

async function runOf(pid: number, homeId: string): Promise<string | null> {
  // Unreadable means gone, or another user's: not ours either way.
  const environ = await readFile(`/proc/${pid}/environ`).catch(() => null);
  if (!environ?.includes(HOME_MARK)) return null;
  const entries = environ.toString('utf8').split('\0');
  if (!entries.includes(`${HOME_MARK}=${homeId}`)) return null;
  return entries.find((entry) => entry.startsWith(`${RUN_MARK}=`))?.slice(RUN_MARK.length + 1) ?? '';
}

async function commandOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.replaceAll('\0', ' ').trim().slice(0, 200);
}
