import { type KnownLesson, type Lesson, lessonUseId, MOST_LESSONS, type Mode, type Task } from '@tidemill/contract';
import {
  actionOf,
  type CommandOf,
  fittingLessons,
  isHeldBack,
  type LessonQuestion,
  uncertainLessons,
  withinBudget,
} from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { lessonsInUse, shown, written } from './known-lessons.ts';

/** As much of a prompt as lessons may take. */
const LESSON_TOKENS = 1_000;
/** Modes that are given lessons. A reviewer judges by the criteria alone. */
const TAUGHT: readonly Mode[] = ['plan', 'plan_revision', 'investigate', 'implement', 'request_changes'];
const MOST_FILES = 100;
/** Lessons that fit a run and that it does not get. */
const MOST_COMPARED = 20;
/** A path in a text: a name with a slash or an extension. */
const PATH = /(?<![\w/.-])(?:[\w.-]+\/)+[\w.-]+|(?<![\w/.-])[\w-]+\.[a-z][a-z0-9]{0,5}\b/g;

type Sources = Pick<EngineDeps, 'project' | 'store' | 'knowledge' | 'hash' | 'onNote'>;

/** What a run is told, and the command that records it, if there is something to record. */
export interface RunLessons {
  lessons: KnownLesson[];
  record: CommandOf<'lesson.inject'> | null;
}

/**
 * The lessons of a run. They are chosen once, and recorded together with the prompt before the agent starts. `reading`: all
 * that are in use. Without learning, and when nothing can be read, the run goes on without them.
 */
export async function lessonsOfRun(
  deps: Sources,
  task: Task,
  runId: string,
  mode: Mode,
  reading: Promise<Lesson[]> = lessonsInUse(deps),
): Promise<RunLessons> {
  if (!TAUGHT.includes(mode)) return { lessons: [], record: null };
  const asked = questionOf(task);
  const notes = await notesOf(deps, task, asked);
  if (deps.project.rules.learning?.enabled === false)
    return { lessons: withinBudget(notes, LESSON_TOKENS).taken, record: null };
  const inUse = await reading;
  const before = await deps.store.record('lesson_use', lessonUseId(runId));
  if (before) {
    const given = inUse.filter(({ id }) => before.lessonIds.includes(id)).map(shown);
    return { lessons: [...notes, ...given], record: null };
  }
  const fitting = fittingLessons(inUse, asked, deps.project.rules.learning?.experiments ?? true);
  const heldBack = fitting.slice(0, MOST_LESSONS).filter((lesson) => isHeldBack(lesson, drawOf(deps, lesson, runId)));
  const kept = fitting.filter((lesson) => !heldBack.includes(lesson)).map(shown);
  const { taken } = withinBudget([...notes, ...kept], LESSON_TOKENS);
  const heldBackIds = [...heldBack, ...uncertainLessons(inUse, asked)].slice(0, MOST_COMPARED).map(({ id }) => id);
  const lessonIds = taken.flatMap(({ lessonId }) => lessonId ?? []);
  const about = { projectId: deps.project.id, runId, taskId: task.id, files: [...asked.files] };
  return { lessons: taken, record: { type: 'lesson.inject', ...about, lessonIds, heldBackIds } };
}

/** What a run would be told now. Nothing is recorded. */
export async function lessonsFor(deps: Omit<Sources, 'hash'>, task: Task, mode: Mode): Promise<KnownLesson[]> {
  if (!TAUGHT.includes(mode)) return [];
  const asked = questionOf(task);
  const { enabled = true, experiments = true } = deps.project.rules.learning ?? {};
  const fitting = enabled ? fittingLessons(await lessonsInUse(deps), asked, experiments) : [];
  return withinBudget([...(await notesOf(deps, task, asked)), ...fitting.map(shown)], LESSON_TOKENS).taken;
}

/** The project's own file. A task of a specification already has what fitted it in its description. */
async function notesOf(deps: Omit<Sources, 'hash'>, task: Task, asked: LessonQuestion): Promise<KnownLesson[]> {
  try {
    return (await written(deps.knowledge, asked)).filter(({ text }) => !task.body.includes(text));
  } catch (error) {
    deps.onNote('the known problems of the project cannot be read; the run goes on without them', error);
    return [];
  }
}

/** Always the same for a run and a lesson, so that a repetition chooses the same. */
const drawOf = ({ hash }: Pick<Sources, 'hash'>, { id }: Lesson, runId: string): number =>
  Number.parseInt(hash(`${runId}/${id}`).slice(0, 6), 16);

/** The files that a text names. */
export const pathsIn = (text: string): string[] =>
  [...text.matchAll(PATH)].map(([path]) => path).filter((path) => !/^\d|^(?:e\.g|i\.e)$/.test(path));

/** The files that a task names, in its scope, its description and its plan, and what it does to them. */
export function questionOf(task: Task): LessonQuestion {
  const { title, body, plan, files, feedback } = task;
  const text = `${title}\n${body}\n${plan}`;
  const all = [...files, ...feedback.flatMap((entry) => entry.files), ...pathsIn(text)];
  return { files: [...new Set(all)].slice(0, MOST_FILES), action: actionOf(title), words: `${title}\n${body}` };
}
