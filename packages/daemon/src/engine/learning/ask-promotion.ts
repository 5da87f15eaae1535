import {
  AppError,
  type EventBody,
  INSTRUCTION_FILES,
  type InstructionFile,
  isActiveLesson,
  type Lesson,
  lessonName,
} from '@tidemill/contract';
import { lackForInstructions } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { askAbout } from './ask.ts';
import { isSaid, lineOf, promoteLesson } from './instructions.ts';

const TRIGGER = 'claude_md_promotion';
const YES = 'Yes';

/** Asks once per text whether a lesson that has paid belongs in the file that every agent reads. */
export async function askForPromotion(deps: EngineDeps, lessons: readonly Lesson[]): Promise<void> {
  const { store, project, knowledge } = deps;
  const ready = lessons.filter(
    (lesson) => lesson.stage === 'production' && lesson.promoted === null && lackForInstructions(lesson) === null,
  );
  if (ready.length === 0 || !knowledge) return;
  const asked = await store.records({ noun: 'question', parent: project.id });
  const contents = await knowledge.instructions();
  for (const lesson of ready) {
    const about = `${lesson.id}/${lesson.version}`;
    if (asked.some(({ sourceId }) => sourceId === `${TRIGGER}/${about}`) || isSaid(lesson, contents)) continue;
    const { text: pattern, occurrences: count, confidence } = lesson;
    await askAbout(deps, TRIGGER, about, {
      pattern,
      count,
      confidence,
      file: fileFor(contents),
      addition: lineOf(lesson),
    });
  }
}

/** The first file, unless only another one is in use. */
function fileFor(contents: readonly string[]): InstructionFile {
  const used = contents.findIndex((text) => text.trim() !== '');
  return INSTRUCTION_FILES[Math.max(used, 0)] ?? INSTRUCTION_FILES[0];
}

/** Only a person's yes puts a lesson into the file. Other words are its new text, which has to prove itself first. */
export async function promoteIfAgreed(
  deps: EngineDeps,
  { questionId, answer }: Extract<EventBody, { type: 'question.answered' }>,
): Promise<void> {
  const { store, project, ids, knowledge, onNote } = deps;
  const question = await store.record('question', questionId);
  const [trigger, lessonId = ''] = question?.sourceId.split('/') ?? [];
  if (trigger !== TRIGGER || answer.source !== 'user' || !knowledge) return;
  const lesson = await store.record('lesson', lessonId);
  if (!lesson || !isActiveLesson(lesson) || lesson.promoted) return;
  const { by, option, text } = answer;
  if (option === null) {
    const reply = await store.execute({ type: 'lesson.edit', projectId: project.id, lessonId, change: { text }, by });
    if (!reply.ok) onNote(`the answer about lesson ${lessonName(lesson)} changed nothing: ${reply.refusal.message}`);
  }
  if (option !== YES) return;
  const contents = await knowledge.instructions();
  try {
    await promoteLesson({ store, ids, project }, lesson, fileFor(contents), contents, by);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    onNote(`lesson ${lessonName(lesson)} was not promoted: ${error.message}`);
  }
}
