import { SPEC_PHASES, type SpecTask } from '@tidemill/contract';

type Node = Pick<SpecTask, 'id' | 'dependsOn' | 'phase'>;

/** A cycle of dependencies as a path that ends where it began; null when there is none. Without recursion. */
export function cycleIn(tasks: readonly Pick<Node, 'id' | 'dependsOn'>[]): string[] | null {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const state = new Map<string, 'on the path' | 'left'>();
  for (const root of byId.keys()) {
    if (state.has(root)) continue;
    const path = [{ id: root, next: 0 }];
    state.set(root, 'on the path');
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const child = byId.get(top.id)?.dependsOn[top.next];
      top.next += 1;
      if (child === undefined) {
        state.set(top.id, 'left');
        path.pop();
      } else if (state.get(child) === 'on the path') {
        const from = path.findIndex(({ id }) => id === child);
        return [...path.slice(from).map(({ id }) => id), child];
      } else if (!state.has(child) && byId.has(child)) {
        state.set(child, 'on the path');
        path.push({ id: child, next: 0 });
      }
    }
  }
  return null;
}

/**
 * Each task after those it depends on; among those that could be next, by phase, then as written. A task in a cycle is
 * left out.
 */
export function inBuildOrder<T extends Node>(tasks: readonly T[]): T[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const waits = new Map<T, number>();
  const followers = new Map<string, T[]>();
  for (const task of tasks) {
    const before = new Set(task.dependsOn.filter((id) => byId.has(id)));
    waits.set(task, before.size);
    for (const id of before) followers.set(id, [...(followers.get(id) ?? []), task]);
  }
  const place = new Map(tasks.map((task, index) => [task, SPEC_PHASES.indexOf(task.phase) * tasks.length + index]));
  const ready = tasks.filter((task) => waits.get(task) === 0);
  const order: T[] = [];
  while (ready.length > 0) {
    let least = 0;
    for (let at = 1; at < ready.length; at += 1) if (place.get(ready[at]!)! < place.get(ready[least]!)!) least = at;
    const [task] = ready.splice(least, 1);
    order.push(task!);
    for (const follower of followers.get(task!.id) ?? []) {
      const left = waits.get(follower)! - 1;
      waits.set(follower, left);
      if (left === 0) ready.push(follower);
    }
  }
  return order;
}
