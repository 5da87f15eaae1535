import { AppError, type Lesson, type Project } from '@tidemill/contract';
import type { Services } from '../context.ts';

/** By its number (`7`, `L7`) or its id. */
export async function lessonOf({ store }: Services, { id: projectId }: Project, name: string): Promise<Lesson> {
  const number = /^\s*l?(\d{1,15})\s*$/i.exec(name)?.[1];
  const byId = number === undefined ? await store.record('lesson', name) : null;
  if (byId?.projectId === projectId) return byId;
  const all = number === undefined ? [] : await store.records({ noun: 'lesson', projectId });
  const found = all.find((each) => each.number === Number(number));
  if (found) return found;
  throw new AppError('not_found', `there is no lesson ${name}`, { hint: '`tidemill memory list --all` shows them.' });
}
