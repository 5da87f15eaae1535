import { AppError, type Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { Forge, ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { executeAccepted } from '../flows/atomic.ts';

/** Pause when the forge cannot be asked. */
const PAUSE_MS = 60_000;
const IDLE_MS = 10_000;
/** After a start, tasks that were cancelled within this time are looked at once more. */
const RECENT_MS = 24 * 60 * 60_000;

/**
 * Looks at the pull requests of waiting tasks, writes nothing while nothing changes there, and wakes a task when
 * something did. Of other tasks it only sees whether their pull request was merged. A webhook only makes it look at once.
 * GitHub must not merge what a cancelled task left behind: it is taken out of auto-merge and the merge queue.
 */
export class PullWatch implements RoutedReactor {
  readonly name = 'pull-requests';
  readonly projectId: string;
  readonly on = ['task.moved'] as const;
  readonly everyMs = IDLE_MS;
  readonly #deps: EngineDeps;
  /** What each pull request looked like, by task. */
  readonly #seen = new Map<string, string>();
  /** Cancelled tasks whose pull request may still wait to be merged by the forge. */
  readonly #cancelled = new Set<string>();
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

  async handle(call: ReactorCall): Promise<void> {
    const { pullRequests, clock, store, onNote } = this.#deps;
    const { tickIn } = call;
    if (!pullRequests) return;
    await this.#noteCancelled(call);
    if (call.cause === 'events')
      return this.#cancelled.size > 0 ? tickIn(Math.max(1, this.#lookAt - clock.now())) : undefined;
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
      await this.#withdraw(pullRequests.forge);
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

  async #noteCancelled(call: ReactorCall): Promise<void> {
    const { store, clock, project } = this.#deps;
    if (call.cause === 'events')
      for (const { body } of call.events)
        if (body.type === 'task.moved' && body.to === 'cancelled') this.#cancelled.add(body.taskId);
    if (call.cause !== 'start') return;
    for (const { id, stageSince } of await store.tasks({ projectId: project.id, stages: ['cancelled'] }))
      if (stageSince > clock.now() - RECENT_MS) this.#cancelled.add(id);
  }

  async #withdraw(forge: Forge): Promise<void> {
    for (const id of [...this.#cancelled]) {
      const task = await this.#deps.store.task(id);
      if (task?.stage === 'cancelled' && task.pull && (await forge.pull(task.pull.number)).state === 'open')
        await forge.unqueue(task.pull.number);
      this.#cancelled.delete(id);
    }
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
