import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';

export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  isZombie: boolean;
  /** Its memory is gone or going, and with it its command and environment. */
  isEnding: boolean;
}

/** The kernel's flag of a process that exits (PF_EXITING). */
const EXITING = 4;

export const hasProcessTable = process.platform === 'linux';

/** Synchronous reads of /proc take microseconds, asynchronous ones ten times as long. So a few are read per turn. */
const PER_TURN = 64;

/** Visits every visible process. Visits none without /proc. */
export async function eachProcess(look: (pid: number) => void): Promise<void> {
  if (!hasProcessTable) return;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const [index, pid] of pids.entries()) {
    if (index % PER_TURN === PER_TURN - 1) await turn();
    look(Number(pid));
  }
}

/** A file below /proc/<pid>, or null when the process is gone or belongs to another user. */
export function processFile(pid: number, name: string): Buffer | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`);
  } catch {
    return null;
  }
}

/** One process, or null when it is gone. */
export function processRow(pid: number): ProcessRow | null {
  const stat = processFile(pid, 'stat')?.toString('latin1');
  if (stat === undefined) return null;
  // The program's name is in parentheses and may contain any character.
  const [state, parent, group, , , , flags] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const isZombie = state === 'Z' || state === 'X';
  const isEnding = isZombie || (Number(flags) & EXITING) !== 0;
  return { pid, parent: Number(parent), group: Number(group), isZombie, isEnding };
}

/** Linux counts CPU time in hundredths of a second on every machine. */
const TICK_MS = 10;

/** The resource use of a process, or null when it is gone or not readable. */
export function processUse(pid: number): { memoryMb: number; cpuMs: number } | null {
  const stat = processFile(pid, 'stat')?.toString('latin1');
  const status = processFile(pid, 'status')?.toString('latin1');
  if (stat === undefined || status === undefined) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const residentKb = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  return { memoryMb: residentKb / 1024, cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
}

/** Signals a process or, with a negative id, a group. Returns false when there was no receiver. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // EPERM: macOS returns it for a group of zombies. Elsewhere the process is not our child.
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

/** Members of a process group that still run; zombies are left out, since some containers never reap them. */
export async function groupMembers(group: number): Promise<number[]> {
  if (!sendSignal(-group, 0)) return [];
  if (!hasProcessTable) return [-group];
  const members: number[] = [];
  await eachProcess((pid) => {
    const row = processRow(pid);
    if (row?.group === group && !row.isZombie) members.push(pid);
  });
  return members;
}
