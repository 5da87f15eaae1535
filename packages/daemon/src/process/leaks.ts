import { setTimeout as delay } from 'node:timers/promises';
import { HOME_MARK, RUN_MARK } from './environment.ts';
import { markedRun, runByMark } from './limit-mark.ts';
import { eachProcess, hasProcessTable, processFile, processRow, sendSignal } from './process-table.ts';

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
 * Every process started for this data folder and still running, found by the environment it inherited, or else by the
 * limit. That catches grandchildren that left their process group, and also those inside a sandbox's pid namespace.
 */
export async function leakedProcesses(homeId: string): Promise<MarkedProcess[]> {
  const runs = new Map<number, string>();
  const spared = ownLine();
  await eachProcess((pid) => {
    const runId = spared.has(pid) ? null : (runOf(pid, homeId) ?? runByMark(pid, homeId));
    if (runId !== null && processRow(pid)?.isZombie === false) runs.set(pid, runId);
  });
  return [...runs].map(([pid, runId]) => ({ pid, runId, command: commandOf(pid), ownerPid: ownerOf(pid, runs) }));
}

/** Kills what `leakedProcesses` finds, but for runs that `isAlive` knows; returns what was killed. */
export async function killLeaked(
  homeId: string,
  isAlive: (process: MarkedProcess) => boolean = () => false,
): Promise<MarkedProcess[]> {
  const killed = new Map<number, MarkedProcess>();
  // A process may fork while we look, so this repeats until a look finds nothing.
  for (let round = 0; round < 50; round++) {
    const found = (await leakedProcesses(homeId)).filter((leak) => !isAlive(leak));
    if (found.length === 0) break;
    for (const leak of found) {
      sendSignal(leak.pid, 'SIGKILL');
      killed.set(leak.pid, leak);
    }
    await delay(Math.min(5 * (round + 1), 50));
  }
  return [...killed.values()];
}

/** Whether a process belongs to this run, also when it shows nothing but the mark. */
export const isOfRun = (process: { runId: string }, runId: string): boolean =>
  process.runId === runId || process.runId === markedRun(runId);

/** This process and those above it: a scan run from inside an agent must not kill the hand that started it. */
function ownLine(): Set<number> {
  const line = new Set<number>();
  for (let pid = process.pid; pid > 0 && !line.has(pid); pid = processRow(pid)?.parent ?? 0) line.add(pid);
  return line;
}

function ownerOf(pid: number, runs: Map<number, string>): number {
  let owner = pid;
  while (runs.has(owner)) owner = processRow(owner)?.parent ?? 0;
  return owner;
}

function runOf(pid: number, homeId: string): string | null {
  const environ = processFile(pid, 'environ');
  if (!environ?.includes(HOME_MARK)) return null;
  const entries = environ.toString('utf8').split('\0');
  if (!entries.includes(`${HOME_MARK}=${homeId}`)) return null;
  return entries.find((entry) => entry.startsWith(`${RUN_MARK}=`))?.slice(RUN_MARK.length + 1) ?? '';
}

function commandOf(pid: number): string {
  const text = processFile(pid, 'cmdline')?.toString('utf8') ?? '';
  return text.replaceAll('\0', ' ').trim().slice(0, 200);
}
