import { setTimeout as delay } from 'node:timers/promises';
import { HOME_MARK, RUN_MARK } from './environment.ts';
import { markedRun, runByMark } from './limit-mark.ts';
import { eachProcess, hasProcessTable, processFile, processRow, sendSignal } from './process-table.ts';

/** A process with the mark of a data folder. It is a leak if its run is no longer alive. */
export interface MarkedProcess {
  pid: number;
  runId: string;
  command: string;
  /** The nearest ancestor without the mark: its daemon, or the process that adopted the orphan. */
  ownerPid: number;
}

/** Why `leakedProcesses` does not work here, or null. */
export const leakScanObstacle = hasProcessTable
  ? null
  : `leaked processes cannot be detected on ${process.platform}: there is no /proc`;

/**
 * All running processes that were started for this data folder, found by their inherited environment or resource limit.
 * This includes grandchildren that left their process group and processes in a sandbox's pid namespace.
 */
export function leakedProcesses(homeId: string): Promise<MarkedProcess[]> {
  const waiting = waitingScans.get(homeId);
  if (waiting) return waiting;
  const scan = lastScan.then(() => {
    waitingScans.delete(homeId);
    return scanFor(homeId);
  });
  waitingScans.set(homeId, scan);
  lastScan = scan.catch(() => undefined);
  return scan;
}

/**
 * Scans that have not begun, by data folder. All who ask until then get the same one: ten runs that are killed at once
 * would otherwise read all processes of the machine ten times, again and again, and take seconds to end.
 */
const waitingScans = new Map<string, Promise<MarkedProcess[]>>();
let lastScan: Promise<unknown> = Promise.resolve();

async function scanFor(homeId: string): Promise<MarkedProcess[]> {
  const runs = new Map<number, string>();
  const spared = ownLine();
  await eachProcess((pid) => {
    const runId = spared.has(pid) ? null : (runOf(pid, homeId) ?? runByMark(pid, homeId));
    if (runId !== null && processRow(pid)?.isZombie === false) runs.set(pid, runId);
  });
  const marked = [...runs].map(([pid, runId]) => ({
    pid,
    runId,
    command: commandOf(pid),
    ownerPid: ownerOf(pid, runs),
  }));
  // A process may end while the others are read. Then its command and its owner are unknown.
  return marked.filter(({ pid }) => processRow(pid)?.isEnding === false);
}

/** Kills leaked processes, except for runs that are alive. Returns the killed processes. */
export async function killLeaked(
  homeId: string,
  isAlive: (process: MarkedProcess) => boolean = () => false,
): Promise<MarkedProcess[]> {
  const killed = new Map<number, MarkedProcess>();
  // A process may fork during the scan, so this repeats until a scan finds nothing.
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

/** Whether a process belongs to this run, also when only the limit mark is left. */
export const isOfRun = (process: { runId: string }, runId: string): boolean =>
  process.runId === runId || process.runId === markedRun(runId);

/**
 * The run of this data folder that started this process, or null. Found by the marks that all descendants inherit: a program that
 * removes the variable is found by its limit, or by the environment of its ancestors.
 */
export function ownRun(homeId: string): string | null {
  if (homeId === '' || !hasProcessTable) return null;
  for (const pid of ownLine()) {
    const runId = runOf(pid, homeId) ?? runByMark(pid, homeId);
    if (runId !== null) return runId;
  }
  return null;
}

/** This process and its ancestors: a scan inside an agent must not kill the process that started it. */
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
