import { createHash } from 'node:crypto';
import { hasProcessTable, processFile } from './process-table.ts';

// Without a sandbox, a process can leave its group and session and clear its environment. But all descendants inherit
// resource limits. Linux has not used the limit for file locks since 2.4, so its value can carry a mark. A process that
// knows this can lower the limit. The mark finds processes that keep running by accident, not ones that hide on
// purpose.

const RUNS = 2 ** 20;
const HOMES = 2 ** 24;

const part = (text: string, size: number) => createHash('sha256').update(text).digest().readUIntBE(0, 6) % size;

/** Far from any limit that a person would set. */
const markOf = (homeId: string, runId: string) => (HOMES + part(homeId, HOMES)) * RUNS + part(runId, RUNS);

// dash, ash and ksh call it -w, bash and zsh -x.
const SCRIPT = 'ulimit -w "$0" 2>/dev/null || ulimit -x "$0" 2>/dev/null; exec "$@"';

/** The command with the mark on it. */
export function withMark(command: string[], marker: { homeId: string; runId: string }): string[] {
  if (!hasProcessTable) return command;
  return ['/bin/sh', '-c', SCRIPT, String(markOf(marker.homeId, marker.runId)), ...command];
}

/** The name of a run for processes with only the limit mark. */
export const markedRun = (runId: string): string => `#${part(runId, RUNS)}`;

/** The run of this data folder whose mark a process has, or null. */
export function runByMark(pid: number, homeId: string): string | null {
  const limits = processFile(pid, 'limits')?.toString('latin1');
  const mark = Number(/^Max file locks\s+(\d+)/m.exec(limits ?? '')?.[1] ?? 0);
  // Fast path: most processes have no mark.
  if (mark < HOMES * RUNS) return null;
  return Math.floor(mark / RUNS) === HOMES + part(homeId, HOMES) ? `#${mark % RUNS}` : null;
}
