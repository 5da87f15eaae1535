import {
  type Actor,
  AppError,
  ENGINE,
  type InstructionFile,
  type Lesson,
  lessonName,
  type Task,
} from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { executeTogether } from '../flows/atomic.ts';

/** Less urgent than what people add. */
const PRIORITY = 3;

type Sources = Pick<EngineDeps, 'store' | 'ids' | 'project'>;

/** The line that the file gets. A marker names the lesson, so that it can be found and taken out again. */
export const lineOf = (lesson: Lesson): string =>
  `- ${lesson.text.replaceAll(/\s+/g, ' ').trim()} <!-- ${lessonName(lesson)} -->`;

/**
 * Puts a lesson into a file of instructions, by a task like any other: an agent edits the file on the newest target,
 * and gates and a review see the diff. Both in one transaction. Throws why it is refused.
 */
export async function promoteLesson(
  { store, ids, project }: Sources,
  lesson: Lesson,
  file: InstructionFile,
  contents: readonly string[],
  by: Actor,
): Promise<Task> {
  const ref = lessonName(lesson);
  if (lesson.stage !== 'production')
    throw new AppError('evidence_missing', `${ref} is ${lesson.stage}, and only a lesson in production is promoted`, {
      hint: `A paired replay decides: tidemill replay run --lesson ${ref}`,
    });
  if (isSaid(lesson, contents))
    throw new AppError('conflict', `the instructions already say what ${ref} says`, {
      hint: 'There is nothing to add.',
    });
  const taskId = ids.next('task');
  const line = lineOf(lesson);
  const create: Command = {
    type: 'task.create',
    projectId: project.id,
    taskId,
    title: `Add ${ref} to ${file}`,
    body: [
      `The lesson ${ref} has paid in paired replays. Add this line to ${file}, in the section that fits, or at the end. Create the file if it is missing.`,
      'Change nothing else.',
      `\`\`\`\n${line}\n\`\`\``,
    ].join('\n\n'),
    kind: 'chore',
    accept: [`${file} contains the line: ${line}`, `No other line of ${file} is changed, and no other file`],
    files: [file],
    dependsOn: [],
    priority: PRIORITY,
  };
  await executeTogether(store, [
    create,
    { type: 'lesson.promote', projectId: project.id, lessonId: lesson.id, file, taskId, by },
  ]);
  return (await store.task(taskId))!;
}

const words = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Whether the instructions contain the lesson already. */
export const isSaid = ({ text }: Lesson, contents: readonly string[]): boolean =>
  contents.some((content) => words(content).includes(words(text)));

/** A promoted lesson that is no longer in production is taken out of its file, by a task as well. */
export async function demoteIfUseless({ store, ids, project, onNote }: EngineDeps, lesson: Lesson): Promise<void> {
  const { promoted } = lesson;
  if (!promoted || (lesson.stage === 'production' && lesson.supersededBy === null)) return;
  const ref = lessonName(lesson);
  const why = lesson.retiredWhy ?? `it is ${lesson.supersededBy === null ? lesson.stage : 'superseded'}`;
  const added = await store.task(promoted.taskId);
  const about = { projectId: project.id, lessonId: lesson.id, why, by: ENGINE };
  const commands: Command[] = [{ type: 'lesson.demote', ...about }];
  if (added?.landedCommit)
    commands.push({
      type: 'task.create',
      projectId: project.id,
      taskId: ids.next('task'),
      title: `Remove ${ref} from ${promoted.file}`,
      body: `The lesson ${ref} no longer pays: ${why}. Remove its line (marked \`<!-- ${ref} -->\`) from ${promoted.file}, if it is still there. Change nothing else.`,
      kind: 'chore',
      accept: [`${promoted.file} has no line marked ${ref}`],
      files: [promoted.file],
      dependsOn: [],
      priority: PRIORITY,
    });
  else if (added && added.stage !== 'cancelled' && added.stage !== 'done')
    commands.push({ type: 'task.cancel', projectId: project.id, taskId: added.id, by: ENGINE });
  const reply = await store.executeAll(commands);
  if (!reply.ok) onNote(`${ref} could not be taken out of ${promoted.file}: ${reply.refusal.message}`);
}
