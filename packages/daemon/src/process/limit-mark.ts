import { createHash } from 'node:crypto';
import { hasProcessTable, processFile } from './process-table.ts';

// Without a sandbox a process can leave its group and its session and clear its environment, and then nothing shows
// whose it is. What it cannot shed is a limit that was set on it: all its descendants have it. Linux still knows a limit
// for the number of file locks and has not looked at it since 2.4, so its value is free to carry a mark. Whoever knows of
// it can lower it; it finds those that merely go on, not those that hide from us in particular.

const RUNS = 2 ** 20;
const HOMES = 2 ** 24;

const part = (text: string, size: number) => createHash('sha256').update(text).digest().readUIntBE(0, 6) % size;

/** Never near a limit that anybody would set by hand. */
const markOf = (homeId: string, runId: string) => (HOMES + part(homeId, HOMES)) * RUNS + part(runId, RUNS);

// dash, ash and ksh call it -w, bash and zsh -x.
const SCRIPT = 'ulimit -w "$0" 2>/dev/null || ulimit -x "$0" 2>/dev/null; exec "$@"';

/** The command with the mark on it. */
export function withMark(command: string[], marker: { homeId: string; runId: string }): string[] {
  if (!hasProcessTable) return command;
  return ['/bin/sh', '-c', SCRIPT, String(markOf(marker.homeId, marker.runId)), ...command];
}

/** How a run is called by those of its processes that show nothing but the mark. */
export const markedRun = (runId: string): string => `#${part(runId, RUNS)}`;

/** The run of this data folder whose mark a process bears, or null. */
export function runByMark(pid: number, homeId: string): string | null {
  const limits = processFile(pid, 'limits')?.toString('latin1');
  const mark = Number(/^Max file locks\s+(\d+)/m.exec(limits ?? '')?.[1] ?? 0);
  // Nearly every process has none, and is spared the rest.
  if (mark < HOMES * RUNS) return null;
  return Math.floor(mark / RUNS) === HOMES + part(homeId, HOMES) ? `#${mark % RUNS}` : null;
}
