import { REACTORS, type Task } from '@tidemill/contract';
import type { ComparedWork } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { liveWork, MOST_COMPARED } from '../stages/coming-conflicts.ts';

type Live = Awaited<ReturnType<typeof liveWork>>[number];

/**
 *   work.committed ──▶ the new commit against all other live branches and the target ──▶ forecast.record
 *   target moved ──▶ every live branch against the target
 *   task ended ──▶ its entries at the other tasks are removed
 * It works beside the pipeline. Events that come meanwhile are handled together by the next call.
 */
export class ConflictForecast implements Reactor {
  readonly name = 'conflict-forecast';
  readonly projectId: string;
  readonly on = REACTORS['conflict-forecast'].on;
  readonly atOnce = 200;
  /** A person may have moved the target. */
  readonly everyMs = 60_000;
  readonly #deps: EngineDeps;
  readonly #isOut: () => Promise<boolean>;
  #target: string | null = null;
  #isCapNoted = false;

  /** `isOut`: the repository is unavailable now. */
  constructor(deps: EngineDeps, isOut: () => Promise<boolean>) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#isOut = isOut;
  }

  async handle(call: ReactorCall): Promise<void> {
    const committed = new Set<string>();
    let hasEnded = call.cause !== 'events';
    for (const { body } of call.cause === 'events' ? call.events : []) {
      if (body.type === 'work.committed') committed.add(body.taskId);
      else hasEnded ||= body.type !== 'task.moved' || body.to === 'done' || body.to === 'cancelled';
    }
    if ((committed.size === 0 && !hasEnded) || (await this.#isOut())) return;
    const live = await liveWork(this.#deps);
    if (live.length === 0) return;
    const target = await this.#deps.workspace.targetCommit();
    const isNew = (task: Task) => call.cause === 'start' || committed.has(task.id);
    this.#noteCap(live);
    const done = new Set<string>();
    for (const task of live) {
      if (isNew(task)) {
        done.add(task.id);
        const others = live.filter(({ id }) => !done.has(id)).slice(0, MOST_COMPARED);
        await this.#compare(task, others, target);
      } else if (target !== this.#target) await this.#compare(task, [], target);
    }
    // Only now: after a failure all are compared again.
    this.#target = target;
    if (hasEnded) for (const task of live) await this.#dropEnded(task, live);
  }

  #noteCap(live: Live[]): void {
    if (live.length <= MOST_COMPARED + 1 || this.#isCapNoted) return;
    this.#isCapNoted = true;
    this.#deps.onNote(
      `more than ${MOST_COMPARED} branches are live: each is compared with the newest ${MOST_COMPARED}`,
    );
  }

  async #compare(task: Live, others: Live[], target: string): Promise<void> {
    const { workspace } = this.#deps;
    const forecast = await workspace.forecast(
      task.head.commit,
      others.map(({ head }) => head.commit),
    );
    if (!forecast) return;
    const byCommit = new Map(forecast.compared.map((each) => [each.commit, each]));
    const compared: ComparedWork[] = others.flatMap(({ id, head }) => {
      const found = byCommit.get(head.commit);
      return found ? [{ ...found, taskId: id }] : [];
    });
    if (forecast.withTarget) compared.push({ taskId: null, commit: target, files: forecast.withTarget, size: null });
    // Most changes conflict with nothing, before and after. Those cost no transaction.
    const known = new Set(task.forecast.map(({ taskId }) => taskId));
    const news = compared.filter(({ taskId, files }) => files.length > 0 || known.has(taskId));
    if (news.length > 0) await this.#record(task, news, forecast.size);
  }

  /** Entries about tasks that have landed, were cancelled or started again. */
  async #dropEnded(task: Live, live: Live[]): Promise<void> {
    const alive = new Set(live.map(({ id }) => id));
    const gone = task.forecast.flatMap(({ taskId }) => (taskId !== null && !alive.has(taskId) ? taskId : []));
    if (gone.length === 0) return;
    const nothing = { commit: null, files: [], size: null };
    await this.#record(
      task,
      gone.map((taskId) => ({ ...nothing, taskId })),
      null,
    );
  }

  async #record(task: Live, compared: ComparedWork[], size: ComparedWork['size']): Promise<void> {
    const about = { projectId: this.projectId, taskId: task.id, commit: task.head.commit };
    await this.#deps.store.execute({ type: 'forecast.record', ...about, size, compared });
  }
}
