import { type EventBody, isActiveLesson, type Lesson, lessonName, type MemorySummary } from '@tidemill/contract';
import type { Store } from '../../ports.ts';

export const WEEK_MS = 7 * 24 * 3_600_000;
const UNUSED_MS = 90 * 24 * 3_600_000;
const PAGE = 500;
const FOLLOWED = [
  'lesson.recorded',
  'lesson.confirmed',
  'lesson.retired',
  'lesson.promoted',
] satisfies EventBody['type'][];

/** Not handed out for 90 days. */
export const isUnused = ({ lastUsedAt, createdAt }: Pick<Lesson, 'lastUsedAt' | 'createdAt'>, now: number): boolean =>
  now - (lastUsedAt ?? createdAt) > UNUSED_MS;

/** What was learned in the week before `to`. */
export async function summarise(
  store: Pick<Store, 'records' | 'events'>,
  projectId: string,
  to: number,
): Promise<MemorySummary> {
  const from = to - WEEK_MS;
  const bodies = await eventsOf(store, projectId, from, to);
  const count = (type: EventBody['type']) => bodies.filter((body) => body.type === type).length;
  const recorded = bodies.flatMap((body) => (body.type === 'lesson.recorded' ? [body.draft.kind] : []));
  const lessons = await store.records({ noun: 'lesson', projectId });
  const active = lessons.filter(isActiveLesson);
  const uses = (await store.records({ noun: 'lesson_use', projectId })).filter(
    ({ at, lessonIds }) => at > from && at <= to && lessonIds.length > 0,
  );
  const byStage: Record<string, number> = {};
  for (const { stage } of active) byStage[stage] = (byStage[stage] ?? 0) + 1;
  return {
    from,
    to,
    gotchas: recorded.filter((kind) => kind === 'gotcha').length,
    patterns: recorded.filter((kind) => kind === 'pattern').length,
    preferences: recorded.filter((kind) => kind === 'preference').length,
    confirmed: count('lesson.confirmed'),
    retired: count('lesson.retired'),
    promoted: count('lesson.promoted'),
    active: active.length,
    byStage,
    uses: {
      runs: uses.length,
      helped: uses.filter(({ verdict }) => verdict === 'helped').length,
      hurt: uses.filter(({ verdict }) => verdict === 'hurt').length,
    },
    unused: active.filter((lesson) => isUnused(lesson, to)).length,
    top: topOf(active),
  };
}

/** The one that helped most; without figures, the one that was seen most often. */
function topOf(active: readonly Lesson[]): string {
  const [top] = [...active].sort(
    (a, b) => b.helped - b.hurt - (a.helped - a.hurt) || b.occurrences - a.occurrences || b.confidence - a.confidence,
  );
  return top ? `${lessonName(top)} ${top.text}` : '';
}

async function eventsOf(
  store: Pick<Store, 'events'>,
  projectId: string,
  from: number,
  to: number,
): Promise<EventBody[]> {
  const found: EventBody[] = [];
  for (let upTo: number | undefined; ; ) {
    const page = await store.events({
      projectId,
      types: FOLLOWED,
      newestFirst: true,
      limit: PAGE,
      ...(upTo === undefined ? {} : { upTo }),
    });
    found.push(...page.filter(({ at }) => at > from && at <= to).map(({ body }) => body));
    const last = page.at(-1);
    if (!last || page.length < PAGE || last.at <= from) return found;
    upTo = last.seq - 1;
  }
}
