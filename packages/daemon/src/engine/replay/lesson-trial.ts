import {
  AppError,
  type Lesson,
  lessonName,
  type RecordedTask,
  type RecordedTaskView,
  type ReplayVariant,
} from '@tidemill/contract';
import { actionOf, fitsLesson, LEAST_HELD_OUT } from '@tidemill/core';
import { isUsable } from './recorded.ts';

/** As long as a lesson, and without any use. It shows what more words in a prompt do by themselves. */
const PLACEBO =
  'This repository has several files. Each of them has a name and a content. Some are longer than others, and all of them belong to the project. ';

/** Recorded tasks that a lesson fits and was not learned from, the newest first. */
export function heldOut(lesson: Lesson, tasks: readonly RecordedTaskView[]): RecordedTask[] {
  const learnedFrom = new Set(lesson.origin.taskIds);
  return tasks
    .filter(isUsable)
    .filter(({ taskId }) => !learnedFrom.has(taskId))
    .filter(({ files, title }) => fitsLesson(lesson, { files, action: actionOf(title), words: title }))
    .map(({ unusable: _, ...task }) => task);
}

/** Without the lesson, with it as it is now, and with a placebo that looks like it. */
export function lessonVariants(lesson: Lesson, agent: string | null): ReplayVariant[] {
  const ref = lessonName(lesson);
  const tried = { lessonId: lesson.id, ref, version: lesson.version, text: lesson.text, why: lesson.why };
  const length = Math.max(lesson.text.length, 40);
  const placebo = PLACEBO.repeat(Math.ceil(length / PLACEBO.length)).slice(0, length);
  return [
    { name: `without ${ref}`, agent, prompt: null, lessons: [] },
    { name: `with ${ref}`, agent, prompt: null, lessons: [tried] },
    { name: 'placebo', agent, prompt: null, lessons: [{ ...tried, lessonId: null, text: placebo, why: '' }] },
  ];
}

export function tooFew(lesson: Lesson, found: number): AppError {
  const ref = lessonName(lesson);
  return new AppError(
    'evidence_missing',
    `${ref} stays ${lesson.stage}: it fits ${found} recorded tasks that it was not learned from, and ${LEAST_HELD_OUT} are needed`,
    { hint: 'Tasks are recorded when they land. `tidemill replay tasks` lists them.' },
  );
}
