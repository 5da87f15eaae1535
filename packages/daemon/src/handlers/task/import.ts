import { AppError, type Project, type RouteRequest } from '@tidemill/contract';
import type { Call, Services } from '../context.ts';
import { projectOf } from '../find.ts';
import { type Creation, creationOf, madeBefore, newTaskId, otherRequest } from './create.ts';
import { dependenciesFirst, indexKeys, linksOf, nameOf } from './import-order.ts';
import { checkProposed } from './proposed.ts';

type Imported = RouteRequest<'importTasks'>['tasks'][number];

/** Creates a list of tasks that may depend on each other, in one transaction: all or none. */
export async function importTasks(
  services: Services,
  input: RouteRequest<'importTasks'>,
  _signal: AbortSignal,
  call: Call,
) {
  const project = await projectOf(services, input.project);
  const { tasks } = input;
  const byKey = indexKeys(tasks);
  const links = tasks.map((task, index) => linksOf(task, index, byKey));
  checkPipelines(tasks, project);
  for (const task of tasks) checkProposed(call.caller, project, task);
  const order = dependenciesFirst(tasks, links);
  const existing = await existingIds(services, project, tasks, links);
  const ids = tasks.map((_, index) => newTaskId(services, project.id, call, index));
  const creations = tasks.map((task, index) => {
    const { indexes, numbers } = links[index]!;
    const dependsOn = [...indexes.map((other) => ids[other]!), ...numbers.map((number) => existing.get(number)!)];
    return creationOf(project.id, ids[index]!, dependsOn, task);
  });

  const reply = await services.store.executeAll(order.map((index) => creations[index]!));
  const { idempotencyKey: key } = call;
  let numbers: number[];
  if (reply.ok) {
    numbers = creations.map(() => 0);
    reply.replies.forEach(({ task }, place) => {
      numbers[order[place]!] = task!.number;
    });
  } else if (reply.refusal.code === 'conflict' && key !== undefined) {
    const next = newTaskId(services, project.id, call, tasks.length);
    numbers = await numbersOfRepeat(services, creations, key, next);
  } else {
    const { code, message, hint } = reply.refusal;
    const what = `${nameOf(tasks, order[reply.index]!)}: ${message}`;
    throw new AppError(code, what, { hint: hint ? `Nothing was added. ${hint}` : 'Nothing was added.' });
  }
  return {
    created: numbers.length,
    first: numbers.reduce((least, number) => Math.min(least, number)),
    last: numbers.reduce((most, number) => Math.max(most, number)),
    keys: Object.fromEntries([...byKey].map(([key, index]) => [key, numbers[index]!])),
  };
}

/**
 * The tasks that the same list created with this key before. `next` is the task that a longer list would have created.
 */
async function numbersOfRepeat(
  services: Services,
  creations: Creation[],
  key: string,
  next: string,
): Promise<number[]> {
  if (await services.store.task(next)) throw otherRequest(key);
  const numbers: number[] = [];
  for (const creation of creations) {
    const task = await madeBefore(services, creation, key);
    if (!task) throw otherRequest(key);
    numbers.push(task.number);
  }
  return numbers;
}

function checkPipelines(tasks: Imported[], project: Project): void {
  const known = Object.keys(project.rules.pipelines);
  const stray = tasks.findIndex(({ pipeline }) => pipeline !== undefined && !known.includes(pipeline));
  if (stray < 0) return;
  throw new AppError(
    'unknown_pipeline',
    `${nameOf(tasks, stray)} names the pipeline "${tasks[stray]!.pipeline}", which does not exist`,
    { hint: `Nothing was added. The pipelines are ${known.join(', ')}.` },
  );
}

async function existingIds(
  { store }: Services,
  project: Project,
  tasks: Imported[],
  links: { numbers: number[] }[],
): Promise<Map<number, string>> {
  const ids = new Map<number, string>();
  for (const [index, { numbers }] of links.entries())
    for (const number of numbers) {
      if (ids.has(number)) continue;
      const task = await store.taskByNumber(project.id, number);
      if (!task)
        throw new AppError('not_found', `${nameOf(tasks, index)} waits for #${number}, which does not exist`, {
          hint: 'Nothing was added. `tidemill task list` shows the numbers.',
        });
      ids.set(number, task.id);
    }
  return ids;
}
