import type { Task } from '@tidemill/contract';
import { claimOrder, isOpenConflict, isReady } from '@tidemill/core';

/** What a query needs to know of a task without reading its document. Derived from it on every save, never set apart. */
export interface TaskColumns {
  /** Set only while the task is claimable, so that the index of claimable tasks holds nothing else. */
  ready_role: string | null;
  priority: number;
  rework: number;
  not_before: number;
  waiting: number;
  lease_worker: string | null;
  scoped: number;
  last_run_id: string | null;
  title_key: string;
  /** A conflict that waits for a person: each claim of a builder counts them. */
  conflicting: number;
}

export function taskColumns(task: Task): TaskColumns {
  const [priority, rework] = claimOrder(task);
  return {
    ready_role: isReady(task) ? task.role : null,
    priority,
    rework,
    not_before: task.notBefore,
    waiting: task.waiting === null ? 0 : 1,
    lease_worker: task.lease?.workerId ?? null,
    scoped: task.files.length > 0 ? 1 : 0,
    last_run_id: task.lastRunId,
    title_key: searchKey(task.title),
    conflicting: isOpenConflict(task) ? 1 : 0,
  };
}

/** As titles and searched words are compared: one case, and nothing in it that Postgres takes for no text. */
export const searchKey = (text: string) => text.toWellFormed().replaceAll('\0', '').toLowerCase();

/** What nothing can wait behind any more. A cancelled task may come back, so a cycle through it is still one. */
export const FINISHED_STAGES = ['done'] as const;

export const runCount = (runs: Task['runs']) => Object.values(runs).reduce((sum, count) => sum + count, 0);
