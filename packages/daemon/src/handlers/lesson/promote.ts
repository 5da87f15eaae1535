import type { PromotedLesson } from '@tidemill/contract';
import { promoteLesson } from '../../engine/learning/instructions.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';
import type { Signed } from '../handler.ts';
import { lessonOf } from './find.ts';

/** A person's request is the agreement: nothing else puts a lesson into a file of instructions. */
export async function promote(services: Services, input: Signed<'promoteLesson'>): Promise<PromotedLesson> {
  const project = await projectOf(services, input.project);
  const lesson = await lessonOf(services, project, input.lesson);
  const contents = await services.repositories.knowledgeOf(project).instructions();
  const { store, ids } = services;
  const task = await promoteLesson({ store, ids, project }, lesson, input.file, contents, input.by);
  return { lesson: lesson.number, file: input.file, task: { number: task.number, title: task.title } };
}
