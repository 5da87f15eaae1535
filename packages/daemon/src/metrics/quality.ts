import { isBuilding, type MetricPeriod, type Project, type QualityFigures } from '@tidemill/contract';
import type { Store } from '../ports.ts';
import { type Facts, mean, startOf } from './figures.ts';
import type { GateFigures } from './gate-figures.ts';

const MOST_TRACES = 1_000;
/** The newest lessons tell whether learning helps now. */
const MOST_LESSONS = 100;
const MOST_EVENTS = 5_000;

type Found = Pick<Store, 'records' | 'record' | 'searchRecords' | 'events'>;

/** How well the work goes, and whether what was learned helps. */
export async function qualityOf(
  store: Found,
  { id: projectId, createdAt }: Project,
  facts: Facts,
  gates: GateFigures,
  { period, now }: { period: MetricPeriod; now: number },
): Promise<QualityFigures> {
  const start = startOf(createdAt, period, now);
  const runsOf = Map.groupBy(facts.runs, ({ subjectId }) => subjectId);
  const done = facts.done.filter(({ doneAt }) => doneAt > start);
  const firstPass = done.map(({ id }) => {
    const runs = runsOf.get(id) ?? [];
    const built = runs.filter(({ mode, outcome }) => isBuilding(mode) && outcome !== 'interrupted').length;
    const isSentBack = gates.refused.has(id) || runs.some(({ outcome }) => outcome === 'changes_requested');
    return isSentBack || built > 1 ? 0 : 1;
  });
  const reviews = done
    .map(({ id }) => (runsOf.get(id) ?? []).filter(({ mode, failure }) => mode === 'review' && failure === null).length)
    .filter((count) => count > 0);
  const asked = (await store.records({ noun: 'question', projectId })).filter(
    ({ askedAt, taskId }) => askedAt > start && taskId !== null,
  );
  const worked = new Set([
    ...facts.runs.filter(({ endedAt }) => endedAt > start).map(({ subjectId }) => subjectId),
    ...asked.map(({ taskId }) => taskId),
  ]);
  return {
    firstPassRate: mean(firstPass),
    reviewsPerTask: mean(reviews),
    gatePassRate: gates.runs === 0 ? null : gates.passed / gates.runs,
    questionsPerTask: worked.size === 0 ? null : asked.length / worked.size,
    refusals: await refusalsOf(store, projectId, start),
    ...(await repeatsOf(store, projectId, start)),
    tracesRead: await tracesRead(store, projectId, start),
  };
}

async function refusalsOf(store: Found, projectId: string, start: number): Promise<QualityFigures['refusals']> {
  const asked = { noun: 'trace', projectId, limit: MOST_TRACES } as const;
  const found = [
    ...(await store.searchRecords({ ...asked, tags: ['type:violation', 'source:guard'] })),
    ...(await store.searchRecords({ ...asked, tags: ['type:violation', 'source:hook'] })),
  ];
  const counts = new Map<string, number>();
  for (const { record } of found) {
    const guard = record.key.split(':')[1] ?? record.key;
    if (record.at > start) counts.set(guard, (counts.get(guard) ?? 0) + 1);
  }
  return [...counts].map(([guard, count]) => ({ guard, count })).sort((a, b) => b.count - a.count);
}

/** What happened again although there is a lesson about it. */
async function repeatsOf(store: Found, projectId: string, start: number) {
  const all = await store.records({ noun: 'lesson', projectId });
  const newest = all
    .filter(({ origin }) => origin.traceIds.length > 0)
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(0, MOST_LESSONS);
  let repeats = 0;
  for (const { origin, createdAt } of newest) {
    const trace = await store.record('trace', origin.traceIds[0]!);
    if (!trace) continue;
    const tags = [`key:${trace.key}`];
    const found = await store.searchRecords({ noun: 'trace', projectId, tags, limit: MOST_TRACES });
    repeats += found.filter(({ record }) => record.at > createdAt && record.at > start).length;
  }
  return { lessons: newest.length, repeats };
}

async function tracesRead(store: Found, projectId: string, start: number): Promise<number> {
  const events = await store.events({ projectId, types: ['trace.retrieved'], limit: MOST_EVENTS });
  return events.reduce(
    (sum, { at, body }) => sum + (at > start && body.type === 'trace.retrieved' ? body.traceIds.length : 0),
    0,
  );
}
