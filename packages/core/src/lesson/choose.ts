import { isActiveLesson, LEAST_CONFIDENCE, type Lesson, MOST_LESSONS, type SpecAction } from '@tidemill/contract';
import { scopesOverlap } from '../schedule/overlap.ts';
import { wordsOf } from '../similarity/words.ts';
import { boundsOf, ratedRuns } from './rate.ts';

/** What lessons are wanted for. */
export interface LessonQuestion {
  /** Paths and globs. */
  files: readonly string[];
  action: SpecAction | null;
  /** Topics, and what the work is about in words. */
  words: string;
}

/** Lessons about nothing in particular take at most this many places. */
const MOST_GENERAL = 2;
const CHARACTERS_PER_TOKEN = 4;
/** The heading and the marks around a lesson. */
const AROUND = 60;

/** Whether work gets a lesson at all, apart from what it is about. */
const isHandedOut = (lesson: Lesson, withExperiments: boolean): boolean =>
  isActiveLesson(lesson) && lesson.confidence >= LEAST_CONFIDENCE && (withExperiments || lesson.stage === 'production');

/** Whether a lesson is about the work: its files, its action and its topics, as far as the lesson names any. */
export function fitsLesson(
  { filePatterns, action, topics }: Pick<Lesson, 'filePatterns' | 'action' | 'topics'>,
  asked: LessonQuestion,
): boolean {
  if (action !== null && asked.action !== null && action !== asked.action) return false;
  if (filePatterns.length > 0 && asked.files.length > 0) return scopesOverlap([...filePatterns], [...asked.files]);
  if (topics.length > 0) return mentions(asked.words, topics);
  // Without files of the work, a lesson about files fits only when its topics are mentioned.
  return filePatterns.length === 0;
}

function mentions(text: string, topics: readonly string[]): boolean {
  const words = new Set(wordsOf(text));
  return topics.some((topic) => {
    const parts = wordsOf(topic);
    return parts.length > 0 && parts.every((part) => words.has(part));
  });
}

/** Of the runs that an experiment fits, one in this many does not get it: they show what happens without it. */
const HELD_BACK = 4;
/** The first two runs get it. One that did not do well is held back half of the time, one that never helped three times in four. */
const FEW_RUNS = 2;
const SOME_RUNS = 3;

/** Whether a run does not get a lesson that fits it. `draw` is a random number of the run and the lesson. */
export function isHeldBack({ stage, helped, hurt }: Lesson, draw: number): boolean {
  if (stage !== 'experiment') return false;
  if (helped + hurt < FEW_RUNS) return false;
  if (helped === 0 && hurt >= SOME_RUNS) return draw % HELD_BACK !== 0;
  return draw % (helped < hurt ? HELD_BACK / 2 : HELD_BACK) === 0;
}

/** Those that are about the work and that runs do not get, because they are too uncertain. */
export const uncertainLessons = (known: readonly Lesson[], asked: LessonQuestion): Lesson[] =>
  known.filter((lesson) => isActiveLesson(lesson) && lesson.confidence < LEAST_CONFIDENCE && fitsLesson(lesson, asked));

/** The lessons that fit, the best first: about these files before others, then the most certain. */
export function fittingLessons(known: readonly Lesson[], asked: LessonQuestion, withExperiments = true): Lesson[] {
  let general = 0;
  return known
    .filter((lesson) => isHandedOut(lesson, withExperiments) && fitsLesson(lesson, asked))
    .map((lesson) => ({ lesson, special: specialty(lesson), low: boundsOf(ratedRuns(lesson)).low }))
    .sort(
      (a, b) =>
        b.special - a.special ||
        b.lesson.confidence - a.lesson.confidence ||
        b.low - a.low ||
        a.lesson.number - b.lesson.number,
    )
    .filter(({ special }) => special > 0 || general++ < MOST_GENERAL)
    .map(({ lesson }) => lesson);
}

const specialty = ({ filePatterns, topics, action }: Lesson): number => {
  if (filePatterns.length > 0) return 2;
  return topics.length > 0 || action !== null ? 1 : 0;
};

/** The first ones, as many as a run may get within its token budget. One that is too long leaves room for shorter ones. */
export function withinBudget<T extends { text: string; why: string }>(
  lessons: readonly T[],
  tokens: number,
  most = MOST_LESSONS,
): { taken: T[]; tokens: number } {
  const taken: T[] = [];
  let used = 0;
  for (const lesson of lessons) {
    const size = tokensOfLesson(lesson);
    if (taken.length >= most || used + size > tokens) continue;
    taken.push(lesson);
    used += size;
  }
  return { taken, tokens: used };
}

const tokensOfLesson = ({ text, why }: { text: string; why: string }): number =>
  Math.ceil((text.length + why.length + AROUND) / CHARACTERS_PER_TOKEN);

const ACTIONS: [SpecAction, RegExp][] = [
  ['delete', /^(?:remove|delete|drop|retire)\b/i],
  ['configure', /^(?:configure|set up|upgrade|update (?:the )?(?:dependenc|config)|bump|pin)\b/i],
  ['verify', /^(?:test|verify|check|cover|prove)\b|^add (?:\w+ ){0,3}tests?\b/i],
  ['create', /^(?:add|create|introduce|build|write|implement|make)\b/i],
];

/** What a task does to its files, as far as its title tells. */
export const actionOf = (title: string): SpecAction =>
  ACTIONS.find(([, pattern]) => pattern.test(title.trim()))?.[0] ?? 'update';
