import type { Lesson, LessonDraft } from '@tidemill/contract';
import { DUPLICATE, RELATED, SimilarWork } from '../similarity/similar-work.ts';

/** From this likeness on the wording is the same too. */
export const SAME_WORDS = 0.95;

const NEGATING = /\b(?:never|not|no|don'?t|doesn'?t|mustn'?t|cannot|avoid|without|stop|instead of)\b|n't\b/gi;
/** Words that say how strict a lesson is, and not what it is about. */
const STRICT = /\b(?:always|never|must|should|do|does|make sure to|remember to|please|avoid)\b/gi;

export interface Alike {
  lesson: Lesson;
  likeness: number;
  /** It says the opposite. */
  isOpposite: boolean;
}

/** Lessons that are about the same matter, the most alike first. */
export function alikeLessons(draft: Pick<LessonDraft, LikeFields>, known: readonly Lesson[]): Alike[] {
  const index = new SimilarWork<Lesson>();
  for (const lesson of known) index.put(lesson.id, lesson, described(lesson));
  return index.like(described(draft), RELATED).map(({ key, likeness }) => ({
    lesson: key,
    likeness,
    isOpposite: isNegative(key.text) !== isNegative(draft.text),
  }));
}

/** The lesson that says the same, or the opposite. */
export const twinOf = (alike: readonly Alike[]): Alike | null =>
  alike.find(({ likeness }) => likeness >= DUPLICATE) ?? null;

type LikeFields = 'text' | 'why' | 'topics' | 'filePatterns';

const described = ({ text, why, topics, filePatterns }: Pick<LessonDraft, LikeFields>) => ({
  title: text.replace(NEGATING, ' ').replace(STRICT, ' '),
  body: [why, ...topics].join(' '),
  files: filePatterns,
});

/** An odd number of negations: "never X", but not "never without X". */
const isNegative = (text: string): boolean => (text.match(NEGATING)?.length ?? 0) % 2 === 1;
