import { readdir, readFile } from 'node:fs/promises';

export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  isZombie: boolean;
}

export const hasProcessTable = process.platform === 'linux';

/** Ids of all processes that can be seen; empty where there is no /proc. */
export async function processIds(): Promise<number[]> {
  if (!hasProcessTable) return [];
  const names = await readdir('/proc');
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** One process, or null when it is gone by now. */
export async function processRow(pid: number): Promise<ProcessRow | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (stat === null) return null;
  // The program's name stands in parentheses and may itself contain any character.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, parent: Number(parent), group: Number(group), isZombie: state === 'Z' || state === 'X' };
}

export async function processTable(): Promise<ProcessRow[]> {
  const rows = await Promise.all((await processIds()).map(processRow));
  return rows.filter((row) => row !== null);
}

/** Signals a process or, with a negative id, a group. False when there was nobody to receive it. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // EPERM: macOS answers so for a group of zombies; elsewhere the process is not ours and so not our child.
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

/** Members of a process group that still run; zombies are left out, since some containers never reap them. */
export async function groupMembers(group: number): Promise<ProcessRow[]> {
  if (!sendSignal(-group, 0)) return [];
  if (!hasProcessTable) return [{ pid: -group, parent: 0, group, isZombie: false }];
  return (await processTable()).filter((row) => row.group === group && !row.isZombie);
}
