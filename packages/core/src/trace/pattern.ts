import type { Pattern, Trace } from '@tidemill/contract';

/** Traces of a pattern that are named; older ones are found by their key. */
const NAMED = 10;
const LONGEST_EXAMPLE = 500;

/** One per key and project. */
export const patternId = (projectId: string, key: string) => `pattern_${projectId}_${key}`;

/** The pattern after one more trace. */
export function counted(pattern: Pattern | undefined, trace: Trace): Pattern {
  const { projectId, key, type, source, runId, at, id } = trace;
  const isSameRun = runId !== null && pattern?.lastRun?.runId === runId;
  const inRun = isSameRun ? pattern.lastRun!.count + 1 : 1;
  return {
    noun: 'pattern',
    id: patternId(projectId, key),
    projectId,
    key,
    type,
    source,
    count: (pattern?.count ?? 0) + 1,
    runs: (pattern?.runs ?? 0) + (isSameRun ? 0 : 1),
    traceIds: [...(pattern?.traceIds ?? []), id].slice(-NAMED),
    example: trace.what.slice(0, LONGEST_EXAMPLE).toWellFormed(),
    firstAt: Math.min(pattern?.firstAt ?? at, at),
    lastAt: Math.max(pattern?.lastAt ?? at, at),
    lastRun: runId === null ? null : { runId, count: inRun },
  };
}
