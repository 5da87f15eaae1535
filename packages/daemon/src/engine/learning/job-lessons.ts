import type { Job, JobMode, KnownLesson } from '@tidemill/contract';
import { fittingLessons, withinBudget } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { lessonsInUse, shown } from './known-lessons.ts';
import { pathsIn } from './run-lessons.ts';

/** Jobs that decide what is built, and how. Those that judge or explain work look at the work alone. */
const TAUGHT: readonly JobMode[] = ['specify', 'initialize', 'propose', 'analyse', 'ideate'];
/** What is decided here is built later, so only what is known well is told. */
const LEAST_CONFIDENCE = 0.7;
const TOKENS = 1_000;
const MOST = 10;
const MOST_WORDS = 40_000;

/** Lessons and patterns that the subject's words, topics or files are about; then the most certain others. */
export async function jobLessons(
  deps: Pick<EngineDeps, 'store' | 'project'>,
  { mode, input }: Job,
  sections: Readonly<Record<string, string>>,
): Promise<KnownLesson[]> {
  const { enabled = true, experiments = true } = deps.project.rules.learning ?? {};
  if (!enabled || !TAUGHT.includes(mode)) return [];
  const sure = (await lessonsInUse(deps)).filter(({ confidence }) => confidence >= LEAST_CONFIDENCE);
  const words = [input, ...Object.values(sections)].join('\n').slice(0, MOST_WORDS);
  const fitting = fittingLessons(sure, { files: pathsIn(words), action: null, words }, experiments);
  // A specification is about the whole repository: a lesson about files fits it without naming them.
  const others = fittingLessons(
    sure.filter((lesson) => lesson.filePatterns.length > 0 && !fitting.includes(lesson)),
    { files: ['**'], action: null, words },
    experiments,
  );
  return withinBudget([...fitting, ...others].map(shown), TOKENS, MOST).taken;
}
