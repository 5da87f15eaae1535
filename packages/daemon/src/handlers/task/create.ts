import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { AppError, callerKey, type EventBody, type Task } from '@tidemill/contract';
import { type CommandOf, criteriaOf } from '@tidemill/core';
import type { Call, Services } from '../context.ts';
import { unwrap } from '../find.ts';

export type Creation = CommandOf<'task.create'> & { projectId: string };
type Asked = Pick<
  Creation,
  'title' | 'body' | 'kind' | 'pipeline' | 'accept' | 'files' | 'priority' | 'hilConfig' | 'repairs'
>;

/** The command that creates the requested task. */
export function creationOf(projectId: string, taskId: string, dependsOn: string[], asked: Asked): Creation {
  const { title, body, kind, pipeline, accept, files, priority, hilConfig, repairs } = asked;
  return {
    type: 'task.create',
    projectId,
    taskId,
    title,
    body,
    kind,
    pipeline,
    accept,
    files,
    dependsOn,
    priority,
    hilConfig,
    repairs,
  };
}

type KeyedCall = Pick<Call, 'caller' | 'idempotencyKey'>;
type Created = Extract<EventBody, { type: 'task.created' }>;

export const otherRequest = (key: string) =>
  new AppError('conflict', `the Idempotency-Key "${key}" was used for another request`, {
    hint: 'Send the same request with it, or use a new key.',
  });

/**
 * The id of a new task. It is derived from the caller and its key, so a repeated request gets the same id and the store
 * refuses to create the task twice, in any process and after any restart.
 */
export function newTaskId({ ids }: Services, projectId: string, call: KeyedCall, place = 0): string {
  const { idempotencyKey: key, caller } = call;
  if (key === undefined) return ids.next('task');
  const owner = callerKey(caller);
  return `task_${hash('sha256', JSON.stringify([projectId, key, place, ...(owner === '' ? [] : [owner])])).slice(0, 24)}`;
}

/** Creates a task, or returns the one that the same request created before. */
export async function createTask(services: Services, command: Creation, key: string | undefined): Promise<Task> {
  const reply = await services.store.execute(command);
  if (reply.ok || key === undefined || reply.refusal.code !== 'conflict') return unwrap(reply).task!;
  const task = await madeBefore(services, command, key);
  return task ?? unwrap(reply).task!;
}

/** Returns null when the key is unused. Refuses when it was used for another request. */
export async function madeBefore({ store }: Services, command: Creation, key: string): Promise<Task | null> {
  const { projectId, taskId } = command;
  const task = await store.task(taskId);
  if (!task) return null;
  // The task may have been edited since. The log has the original request.
  const [first] = await store.events({ projectId, taskId, types: ['task.created'], after: 0, limit: 1 });
  if (first?.body.type === 'task.created' && isSame(first.body, command)) return task;
  throw otherRequest(key);
}

function isSame(made: Created, asked: Creation): boolean {
  const { title, body, kind, files, priority, hilConfig = null, repairs = [] } = asked;
  const pipeline = asked.pipeline ?? made.pipeline;
  const dependsOn = [...new Set(asked.dependsOn)];
  const criteria = criteriaOf(body, asked.accept);
  const wanted = { title, body, kind, files, priority, hilConfig, repairs, pipeline, dependsOn, criteria };
  return Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(made[key as keyof Created], value));
}
