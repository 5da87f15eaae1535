import { AppError, nearest, type RouteRequest } from '@tidemill/contract';

type Imported = RouteRequest<'importTasks'>['tasks'][number];

/** Every error about a list begins with this. The CLI adds the line of the file. */
export const nameOf = (tasks: Imported[], index: number) => `task ${index + 1} ("${tasks[index]?.title}")`;

interface Links {
  /** Other tasks of the list. */
  indexes: number[];
  /** Tasks that already exist. */
  numbers: number[];
}

export function indexKeys(tasks: Imported[]): Map<string, number> {
  const byKey = new Map<string, number>();
  tasks.forEach(({ key }, index) => {
    if (key === undefined) return;
    const other = byKey.get(key);
    if (other !== undefined)
      throw new AppError('bad_input', `${nameOf(tasks, index)} has the same key "${key}" as task ${other + 1}`, {
        hint: 'Nothing was added. Keys are unique within the file.',
      });
    byKey.set(key, index);
  });
  return byKey;
}

export function linksOf(task: Imported, index: number, byKey: Map<string, number>): Links {
  const links: Links = { indexes: [], numbers: [] };
  for (const ref of new Set(task.after)) {
    const other = byKey.get(String(ref));
    if (other !== undefined) links.indexes.push(other);
    else if (typeof ref === 'number' || /^#?\d+$/.test(ref)) links.numbers.push(Number(String(ref).replace('#', '')));
    else {
      const guess = nearest(ref, [...byKey.keys()]);
      throw new AppError(
        'bad_input',
        `task ${index + 1} ("${task.title}") waits for "${ref}", but no task has this key`,
        {
          hint: guess
            ? `Nothing was added. Did you mean "${guess}"?`
            : 'Nothing was added. `after` names keys of the same file, or numbers of tasks that exist.',
        },
      );
    }
  }
  return links;
}

/** The order of the list, but each task after its dependencies. Without recursion: a chain may have 10,000 tasks. */
export function dependenciesFirst(tasks: Imported[], links: Links[]): number[] {
  const name = (index: number) => tasks[index]?.key ?? `"${tasks[index]?.title}"`;
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
          `${nameOf(tasks, child)} waits for itself: ${[...cycle, name(child)].join(' → ')}`,
          {
            hint: 'Remove one of these dependencies. Nothing was added.',
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
