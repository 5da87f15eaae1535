import type { Lesson, LessonDraft, LessonFault, LessonOrigin, Project, Refusal, Tally } from '@tidemill/contract';
import { alikeLessons, fitsLesson, problemOfLesson, twinOf } from '@tidemill/core';
import type { Ids, Store } from '../../ports.ts';

export interface LessonSources {
  store: Store;
  ids: Ids;
  project: Pick<Project, 'id'>;
}

/** What became of a draft. */
export type RecordedLesson =
  /** It is new, or better than one that it supersedes. */
  | { kind: 'recorded'; lesson: Lesson }
  /** A lesson says the same: it was seen once more. */
  | { kind: 'confirmed'; lesson: Lesson }
  /** A lesson says the same, and this is nothing new about it. */
  | { kind: 'known'; lesson: Lesson }
  /** A lesson says the opposite, and stays. */
  | { kind: 'contradicted'; lesson: Lesson }
  | { kind: 'refused'; refusal: Refusal };

/** For the log: without the words of the lesson. */
const WHY_REFUSED: Record<LessonFault, string> = {
  secret: 'it contains what looks like a secret',
  weakens: 'it says that a check may be left out',
  instructs: 'it gives instructions to agents',
  graded: 'it grades itself',
  broad: 'it fits everything',
  generic: 'it is too general',
};

/** As many runs as are compared with a new lesson. */
const COMPARED_RUNS = 500;

/**
 * Records what was learned. The store decides: what is known is confirmed or superseded, what is harmful or too much is
 * refused. `lessonId` makes a repetition harmless.
 */
export async function recordLesson(
  { store, ids, project }: LessonSources,
  draft: LessonDraft,
  origin: LessonOrigin,
  lessonId = ids.next('lesson'),
): Promise<RecordedLesson> {
  const { id: projectId } = project;
  if (origin.by.kind === 'agent' || origin.by.kind === 'engine') {
    const retired = await retiredTwin(store, projectId, draft);
    if (retired) return { kind: 'refused', refusal: retiredRefusal(retired) };
    const problem = problemOfLesson(draft, origin.by);
    if (problem) {
      const { fault, message, hint } = problem;
      await store.execute({ type: 'lesson.refuse', projectId, fault, why: WHY_REFUSED[fault], by: origin.by });
      return { kind: 'refused', refusal: { code: 'bad_input', message, hint } };
    }
  }
  const control = await controlFor(store, projectId, draft);
  const reply = await store.execute({ type: 'lesson.record', projectId, lessonId, draft, origin, control });
  if (!reply.ok) return { kind: 'refused', refusal: reply.refusal };
  const read = async (id: string) => (await store.record('lesson', id))!;
  for (const { body } of reply.events) {
    if (body.type === 'lesson.recorded') return { kind: 'recorded', lesson: await read(body.lessonId) };
    if (body.type === 'lesson.confirmed') return { kind: 'confirmed', lesson: await read(body.lessonId) };
    if (body.type === 'lesson.contradicted') return { kind: 'contradicted', lesson: await read(body.lessonId) };
  }
  const repeated = await store.record('lesson', lessonId);
  return { kind: 'known', lesson: repeated ?? (await activeTwin(store, projectId, draft)) };
}

async function activeTwin(store: Store, projectId: string, draft: LessonDraft): Promise<Lesson> {
  const twin = twinOf(alikeLessons(draft, await store.records({ noun: 'lesson', projectId, isOpen: true })));
  if (!twin) throw new Error('a lesson was neither recorded nor known');
  return twin.lesson;
}

/** What was retired does not come back because an agent says it again. */
async function retiredTwin(store: Store, projectId: string, draft: LessonDraft): Promise<Lesson | null> {
  const closed = await store.records({ noun: 'lesson', projectId, isOpen: false });
  const twin = twinOf(
    alikeLessons(
      draft,
      closed.filter(({ stage }) => stage === 'retired'),
    ),
  );
  return twin && !twin.isOpposite ? twin.lesson : null;
}

const retiredRefusal = ({ number, retiredWhy }: Lesson): Refusal => ({
  code: 'conflict',
  message: `lesson L${number} said the same and was retired: ${retiredWhy}`,
  hint: `A person can bring it back: tidemill memory restore L${number}`,
});

/** How earlier runs ended that a new lesson would have fitted: what it is compared with at first. */
async function controlFor(store: Store, projectId: string, draft: LessonDraft): Promise<Tally> {
  if (draft.filePatterns.length === 0) return { good: 0, total: 0 };
  const uses = await store.records({ noun: 'lesson_use', projectId, isOpen: false });
  const alike = uses
    .filter(({ verdict }) => verdict === 'helped' || verdict === 'hurt')
    .sort((a, b) => b.at - a.at)
    .slice(0, COMPARED_RUNS)
    .filter(({ files }) => files.length > 0 && fitsLesson(draft, { files, action: null, words: '' }));
  return { good: alike.filter(({ verdict }) => verdict === 'helped').length, total: alike.length };
}
