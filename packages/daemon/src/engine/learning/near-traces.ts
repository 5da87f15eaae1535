import type { Mode, Task, Trace, TraceType } from '@tidemill/contract';
import { isUnfit, tokensOf } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

/** Modes that decide how the work is done. */
const TOLD: readonly Mode[] = ['plan', 'plan_revision', 'investigate'];
const TELLING: readonly TraceType[] = ['failure', 'correction', 'violation', 'decision'];
const MOST = 3;
const TOKENS = 1_000;
/** The nearest ones may say nothing, or the same. */
const LOOKED_AT = 30;
const MOST_WORDS = 2_000;

/** What happened in work that is most like the task, within 1,000 tokens. The task's own is in its feedback. */
export async function nearTraces(
  { store, project }: Pick<EngineDeps, 'store' | 'project'>,
  { title, body, number }: Task,
  mode: Mode,
): Promise<Trace[]> {
  if (!TOLD.includes(mode) || project.rules.learning?.enabled === false) return [];
  const words = `${title}\n${body}`.slice(0, MOST_WORDS);
  const found = await store.searchRecords({ noun: 'trace', projectId: project.id, tags: [], words, limit: LOOKED_AT });
  const taken = new Map<string, Trace>();
  let left = TOKENS;
  for (const { record } of found) {
    const { type, key, what, correct, taskNumber } = record;
    const said = `${what}\n${correct ?? ''}`;
    if (!TELLING.includes(type) || taskNumber === number || taken.has(key) || isUnfit(said)) continue;
    const tokens = tokensOf(said);
    if (taken.size >= MOST || tokens > left) continue;
    taken.set(key, record);
    left -= tokens;
  }
  return [...taken.values()];
}

/** Counts that agents were given traces, or asked for them. */
export async function countRead(
  { store, project }: Pick<EngineDeps, 'store'> & { project: { id: string } },
  traceIds: string[],
  runId: string,
): Promise<void> {
  if (traceIds.length > 0) await store.execute({ type: 'trace.retrieve', projectId: project.id, traceIds, runId });
}
