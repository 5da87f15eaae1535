import type { Task } from '@tidemill/contract';
import { claimOrder, isReady } from '@tidemill/core';

/** The claimable tasks of each project and role, kept in claiming order: what the databases have an index for. */
export class ReadyQueues {
  readonly #queues = new Map<string, Task[]>();

  add(task: Task): void {
    if (!isReady(task)) return;
    const key = `${task.projectId}/${task.role}`;
    const queue = this.#queues.get(key) ?? [];
    this.#queues.set(key, queue);
    queue.splice(place(queue, task), 0, task);
  }
  remove(task: Task): void {
    if (!isReady(task)) return;
    const queue = this.#queues.get(`${task.projectId}/${task.role}`);
    queue?.splice(place(queue, task), 1);
  }
  window(projectId: string, role: string, now: number, limit: number): Task[] {
    const window: Task[] = [];
    for (const task of this.#queues.get(`${projectId}/${role}`) ?? []) {
      if (window.length === limit) break;
      if (task.notBefore <= now) window.push(task);
    }
    return window;
  }
  nextNotBefore(projectId: string, now: number): number | null {
    const waiting = [...this.#queues.values()]
      .flat()
      .filter((task) => task.projectId === projectId && task.notBefore > now);
    return waiting.length > 0 ? Math.min(...waiting.map((task) => task.notBefore)) : null;
  }
}

/** Where the task stands, or would stand: numbers are unique in a project, so no two compare equal. */
function place(queue: Task[], task: Task): number {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(queue[middle]!, task) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(a: Task, b: Task): number {
  const left = claimOrder(a);
  const right = claimOrder(b);
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}
