import type { KnowledgeAnswer, KnownLesson, Lesson, Project } from '@tidemill/contract';
import { lessonName, MOST_LESSONS } from '@tidemill/contract';
import { fittingLessons, isUnfit, type LessonQuestion, withinBudget } from '@tidemill/core';
import type { Knowledge, Store } from '../../ports.ts';

export interface KnowledgeSources {
  store: Pick<Store, 'records'>;
  project: Project;
  /** The project's own file of known problems. */
  knowledge?: Knowledge;
}

/** Lessons of the project, and those of others that hold everywhere. */
export async function lessonsInUse({ store, project }: Pick<KnowledgeSources, 'store' | 'project'>): Promise<Lesson[]> {
  const all = await store.records({ noun: 'lesson', isOpen: true });
  return all.filter(({ projectId, scope }) => projectId === project.id || scope === 'all');
}

/** All lessons that fit, the best first, and what the project's own file says. */
async function known(sources: KnowledgeSources, asked: LessonQuestion): Promise<KnownLesson[]> {
  const { project, knowledge } = sources;
  const { enabled = true, experiments = true } = project.rules.learning ?? {};
  const lessons = enabled ? fittingLessons(await lessonsInUse(sources), asked, experiments) : [];
  const texts = new Set(lessons.map(({ text }) => text));
  const notes = (await written(knowledge, asked)).filter(({ text }) => !texts.has(text));
  return [...notes, ...lessons.map(shown)];
}

/** What the project's own file says. It is in the repository, so a lesson's checks hold for it too. */
export async function written(knowledge: Knowledge | undefined, asked: LessonQuestion): Promise<KnownLesson[]> {
  const notes = (await knowledge?.gotchas({ files: [...asked.files], action: asked.action ?? 'update' })) ?? [];
  return notes
    .filter(({ text }) => !isUnfit(text))
    .map(({ text, confidence }) => ({
      ref: 'gotchas.yaml',
      lessonId: null,
      kind: 'gotcha',
      text,
      why: '',
      confidence,
      stage: null,
    }));
}

export const shown = (lesson: Lesson): KnownLesson => ({
  ref: lessonName(lesson),
  lessonId: lesson.id,
  kind: lesson.kind,
  text: lesson.text,
  why: lesson.why,
  confidence: lesson.confidence,
  stage: lesson.stage,
});

/** What is known about some work, within a token budget. */
export async function knowledgeFor(
  sources: KnowledgeSources,
  asked: LessonQuestion,
  { tokens, limit = MOST_LESSONS }: { tokens: number; limit?: number },
): Promise<KnowledgeAnswer> {
  const all = await known(sources, asked);
  const { taken, tokens: used } = withinBudget(all, tokens, limit);
  return { lessons: taken, tokens: used, more: all.length - taken.length };
}
