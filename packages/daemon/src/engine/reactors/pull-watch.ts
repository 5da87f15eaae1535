import { AppError, type Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { Forge, ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { executeAccepted } from '../flows/atomic.ts';

/** Pause when the forge cannot be asked. */
const PAUSE_MS = 60_000;
const IDLE_MS = 10_000;

/**
 * Looks at the pull requests of waiting tasks, writes nothing while nothing changes there, and wakes a task when
 * something did. Of other tasks it only sees whether their pull request was merged. A webhook only makes it look at once.
 */
export class PullWatch implements RoutedReactor {
  readonly name = 'pull-requests';
  readonly projectId: string;
  readonly everyMs = IDLE_MS;
  readonly #deps: EngineDeps;
  /** What each pull request looked like, by task. */
  readonly #seen = new Map<string, string>();
  #lookAt = 0;
  #trouble = '';

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  /** The next tick looks, whatever the setting says. */
  lookSoon(): void {
    this.#lookAt = 0;
  }

  async handle({ cause, tickIn }: ReactorCall): Promise<void> {
    const { pullRequests, clock, store, onNote } = this.#deps;
    if (!pullRequests || cause === 'events') return;
    const now = clock.now();
    if (now < this.#lookAt) return tickIn(this.#lookAt - now);
    const { poll } = pullRequests.settings;
    const all = await this.#withPull();
    const waiting = all.filter(({ offered, waiting, lease }) => offered && waiting !== null && !lease);
    for (const id of this.#seen.keys()) if (!waiting.some((task) => task.id === id)) this.#seen.delete(id);
    this.#lookAt = now + poll;
    try {
      const changed: string[] = [];
      for (const { id, pull } of waiting) {
        const look = await pullRequests.forge.glance(pull!.number, this.#deps.project.rules.target);
        if (this.#seen.get(id) !== look) changed.push(id);
        this.#seen.set(id, look);
      }
      const idle = all.filter(({ offered, lease }) => !offered && !lease);
      const merged: Command[] = [];
      for (const task of idle) merged.push(...(await this.#mergedOf(pullRequests.forge, task)));
      this.#trouble = '';
      const wake = changed.map((taskId) => ({ type: 'task.wake', projectId: this.projectId, taskId }) as const);
      if (wake.length + merged.length > 0) await executeAccepted(store, [...wake, ...merged]);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'github_failed') throw error;
      if (error.message !== this.#trouble) onNote(`GitHub: ${error.message} ${error.hint}`);
      this.#trouble = error.message;
      const retryAt = 'retryAt' in error && typeof error.retryAt === 'number' ? error.retryAt : 0;
      this.#lookAt = Math.max(now + PAUSE_MS, retryAt);
    }
    tickIn(Math.max(1, this.#lookAt - clock.now()));
  }

  async #withPull(): Promise<Task[]> {
    const { store, project } = this.#deps;
    const stages = Object.values(project.rules.pipelines).flatMap((pipeline) => Object.keys(pipeline.stages));
    const present = [...new Set([...stages, 'needs_info', 'blocked'])];
    return (await store.tasks({ projectId: project.id, stages: present })).filter(({ pull }) => pull !== null);
  }

  async #mergedOf(forge: Forge, { id: taskId, pull }: Task): Promise<Command[]> {
    const { number, head, state } = await forge.pull(pull!.number);
    return state === 'merged' ? [{ type: 'merge.note_merged', projectId: this.projectId, taskId, number, head }] : [];
  }
}
