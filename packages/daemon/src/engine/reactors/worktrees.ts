import { REACTORS } from '@tidemill/contract';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { tidyPrepared } from '../dispatch/recovery.ts';
import type { Fleet } from '../workers/fleet.ts';

const ENDED: string[] = ['cancelled', 'done'];

const EVERY_MS = 10 * 60_000;
/** Ended tasks that are looked at; the next start removes the worktrees of all. */
const MOST = 200;

/**
 * Removes worktrees that are no longer needed. An outage of the store or of the repository may have kept it from doing so
 * when the task ended, so it also looks at the rows from time to time.
 */
export class WorktreeCleanup implements Reactor {
  readonly name = 'worktrees';
  readonly projectId: string;
  readonly on = REACTORS.worktrees.on;
  readonly everyMs = EVERY_MS;
  readonly #deps: EngineDeps;
  readonly #fleet: Fleet;

  constructor(deps: EngineDeps, fleet: Fleet) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#fleet = fleet;
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'tick') await this.#removeEnded();
    for (const { body } of call.cause === 'events' ? call.events : []) {
      if (body.type === 'task.moved' && body.to === 'cancelled') await this.#removeCancelled(body.taskId);
      if (body.type === 'task.moved' && ENDED.includes(body.to)) await this.#removePrepared(body.taskId);
      if (body.type === 'conflict.aborted') await this.#removeAborted(body.taskId, body.from);
    }
  }

  /** The worktrees of the newest ended tasks that are still there. */
  async #removeEnded(): Promise<void> {
    const { store, workspace } = this.#deps;
    const query = { projectId: this.projectId, stages: ['done', 'cancelled'], newestFirst: true, limit: MOST };
    const ended = (await store.tasks(query)).filter(({ lease, id }) => lease === null && !this.#isHeld(id));
    const left = new Set(await workspace.present(ended));
    for (const { number, branch } of ended) if (left.has(branch)) await workspace.remove({ number, branch });
  }

  #isHeld = (taskId: string): boolean => this.#fleet.slots.some(({ leased }) => leased?.work.id === taskId);

  /**
   * The work is already snapshotted. If a slot still holds the task, the slot removes the worktree when it releases the
   * task.
   */
  async #removeCancelled(taskId: string): Promise<void> {
    if (this.#isHeld(taskId)) return;
    const { store, workspace } = this.#deps;
    const task = await store.task(taskId);
    if (task?.stage === 'cancelled') await workspace.remove({ number: task.number, branch: task.branch });
  }

  /** Nobody else may use what was prepared from its work. */
  async #removePrepared(taskId: string): Promise<void> {
    const ended = await this.#deps.store.task(taskId);
    if (ended && ENDED.includes(ended.stage)) await tidyPrepared(this.#deps, (task) => task !== ended.number);
  }

  /** The task now uses another branch, so the worktree of the old one is not in use. */
  async #removeAborted(taskId: string, branch: string): Promise<void> {
    const { store, workspace } = this.#deps;
    const task = await store.task(taskId);
    if (task && task.branch !== branch) await workspace.remove({ number: task.number, branch });
  }
}
