import { AppError, type Project, type RouteRequest } from '@tidemill/contract';
import { nearest } from '../../config/nearest.ts';
import type { Call, Services } from '../context.ts';
import { projectOf } from '../find.ts';
import { createTask, creationOf, type KeyedCall, madeBefore, newTaskId, otherRequest } from './create.ts';

type Imported = RouteRequest<'importTasks'>['tasks'][number];

/** How many creations are handed to the store at once; it commits those of one moment together. */
const BATCH = 1000;

/** Makes a list of tasks that may wait for each other. All of it is checked before the first one is made. */
export async function importTasks(
  services: Services,
  input: RouteRequest<'importTasks'>,
  _signal: AbortSignal,
  call: Call,
) {
  const { idempotencyKey: key } = call;
  const project = await projectOf(services, input.project);
  const { tasks } = input;
  const byKey = indexKeys(tasks);
  const links = tasks.map((task, index) => linksOf(task, index, byKey));
  checkPipelines(tasks, project);
  const order = dependenciesFirst(links, (index) => nameOf(tasks, index));
  const existing = await existingIds(
    services,
    project,
    links.flatMap((link) => link.numbers),
  );
  const ids = tasks.map((_, index) => newTaskId(services, project.id, call, index));

  const creation = (index: number) => {
    const link = links[index]!;
    const dependsOn = [...link.indexes.map((other) => ids[other]!), ...link.numbers.map((n) => existing.get(n)!)];
    return creationOf(project.id, ids[index]!, dependsOn, tasks[index]!);
  };
  if (key !== undefined) await checkRepeat(services, project, { ...call, idempotencyKey: key }, tasks.length, creation);
  const create = async (index: number) => (await createTask(services, creation(index), key)).number;
  const numbers = new Map<number, number>();
  for (let start = 0; start < order.length; start += BATCH) {
    const batch = order.slice(start, start + BATCH);
    // The store decides in the order of the calls, so a task may be made in the same breath as what it waits for.
    const results = await Promise.allSettled(batch.map(create));
    results.forEach((result, place) => {
      if (result.status === 'fulfilled') numbers.set(batch[place]!, result.value);
    });
    const failure = results.find((result) => result.status === 'rejected');
    if (failure) throw partly(numbers.size, tasks.length, failure.reason);
  }
  const made = [...numbers.values()];
  return {
    created: made.length,
    first: made.reduce((least, number) => Math.min(least, number)),
    last: made.reduce((most, number) => Math.max(most, number)),
    keys: Object.fromEntries([...byKey].map(([key, index]) => [key, numbers.get(index)!])),
  };
}

/**
 * Before anything is made: what was made with this key must be the same list. One that was cut off by a crash is
 * completed, so only a list that is shorter than the first, or differs in what is there, is another.
 */
async function checkRepeat(
  services: Services,
  project: Project,
  call: KeyedCall & { idempotencyKey: string },
  length: number,
  creation: (index: number) => Parameters<typeof madeBefore>[1],
): Promise<void> {
  const { idempotencyKey: key } = call;
  const isThere = async (place: number) =>
    (await services.store.task(newTaskId(services, project.id, call, place))) !== null;
  if (await isThere(length)) throw otherRequest(key);
  if (!(await isThere(0)) && !(await isThere(length - 1))) return;
  for (let index = 0; index < length; index += 1) await madeBefore(services, creation(index), key);
}

interface Links {
  /** Other tasks of the list. */
  indexes: number[];
  /** Tasks that exist already. */
  numbers: number[];
}

function indexKeys(tasks: Imported[]): Map<string, number> {
  const byKey = new Map<string, number>();
  tasks.forEach(({ key }, index) => {
    if (key === undefined) return;
    if (byKey.has(key)) {
      throw new AppError('bad_input', `two tasks have the key "${key}"`, { hint: 'Keys are unique within the file.' });
    }
    byKey.set(key, index);
  });
  return byKey;
}

function linksOf(task: Imported, index: number, byKey: Map<string, number>): Links {
  const links: Links = { indexes: [], numbers: [] };
  for (const ref of new Set(task.after)) {
    const other = byKey.get(String(ref));
    if (other !== undefined) links.indexes.push(other);
    else if (typeof ref === 'number' || /^#?\d+$/.test(ref)) links.numbers.push(Number(String(ref).replace('#', '')));
    else {
      const guess = nearest(ref, [...byKey.keys()]);
      throw new AppError(
        'bad_input',
        `task ${index + 1} ("${task.title}") waits for "${ref}", which no task has as key`,
        {
          hint: guess
            ? `Did you mean "${guess}"?`
            : '`after` names keys of the same file, or numbers of tasks that exist.',
        },
      );
    }
  }
  return links;
}

function checkPipelines(tasks: Imported[], project: Project): void {
  const known = Object.keys(project.rules.pipelines);
  const stray = tasks.find(({ pipeline }) => pipeline !== undefined && !known.includes(pipeline));
  if (!stray) return;
  throw new AppError(
    'unknown_pipeline',
    `"${stray.title}" names the pipeline "${stray.pipeline}", which does not exist`,
    {
      hint: `The pipelines are ${known.join(', ')}.`,
    },
  );
}

const nameOf = (tasks: Imported[], index: number) => tasks[index]?.key ?? `"${tasks[index]?.title}"`;

/** The order of the list, but each task after those it waits for. Without recursion: a chain may be 10,000 long. */
function dependenciesFirst(links: Links[], name: (index: number) => string): number[] {
  const order: number[] = [];
  const state = new Uint8Array(links.length); // 0 new, 1 on the path, 2 placed
  for (let root = 0; root < links.length; root += 1) {
    if (state[root] !== 0) continue;
    const path = [{ index: root, next: 0 }];
    state[root] = 1;
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const child = links[top.index]!.indexes[top.next];
      top.next += 1;
      if (child === undefined) {
        state[top.index] = 2;
        order.push(top.index);
        path.pop();
      } else if (state[child] === 1) {
        const cycle = path.slice(path.findIndex((step) => step.index === child)).map((step) => name(step.index));
        throw new AppError(
          'dependency_cycle',
          `these tasks wait for each other: ${[...cycle, name(child)].join(' → ')}`,
          {
            hint: 'Take one of these dependencies out. Nothing was added.',
          },
        );
      } else if (state[child] === 0) {
        state[child] = 1;
        path.push({ index: child, next: 0 });
      }
    }
  }
  return order;
}

async function existingIds(services: Services, project: Project, numbers: number[]): Promise<Map<number, string>> {
  const ids = new Map<number, string>();
  for (const number of new Set(numbers)) {
    const task = await services.store.taskByNumber(project.id, number);
    if (!task) {
      throw new AppError('not_found', `there is no task #${number} to wait for`, {
        hint: 'Nothing was added. `tidemill task list` shows the numbers.',
      });
    }
    ids.set(number, task.id);
  }
  return ids;
}

function partly(made: number, wanted: number, cause: unknown): unknown {
  if (!(cause instanceof AppError)) return cause;
  return new AppError(cause.code, `${made} of ${wanted} tasks were added, then: ${cause.message}`, {
    hint: cause.hint,
    cause,
  });
}
