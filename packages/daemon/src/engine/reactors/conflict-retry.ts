import { REACTORS, type Task } from '@tidemill/contract';
import { mayRetryIdle } from '@tidemill/core';
import type { Reactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** Blocked tasks that are looked at. */
const MOST = 200;

/**
 * A task that is blocked for repeated conflicts is tried again once nothing is left that could overtake it: the merge
 * queue is empty, and no agent works on a change that would conflict with it. One at a time, or they would overtake each
 * other. What a person has begun to resolve stays with that person.
 */
export class ConflictRetry implements Reactor {
  readonly name = 'conflict-retry';
  readonly projectId: string;
  readonly on = REACTORS['conflict-retry'].on;
  readonly atOnce = 200;
  readonly everyMs = 60_000;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async handle(): Promise<void> {
    const { store, project, conflicts } = this.#deps;
    const blocked = await store.tasks({ projectId: this.projectId, stages: ['blocked'], limit: MOST });
    for (const task of blocked) {
      if (!mayRetryIdle(task, project) || !(await this.#isIdle(task))) continue;
      if (await conflicts?.hasBegunMerge(task)) continue;
      const { ok } = await store.execute({ type: 'conflict.retry', projectId: this.projectId, taskId: task.id });
      // Refused: a person acted meanwhile.
      if (ok) return;
    }
  }

  async #isIdle({ forecast }: Task): Promise<boolean> {
    const { store, project } = this.#deps;
    const stages = Object.values(project.rules.pipelines).flatMap((pipeline) =>
      Object.entries(pipeline.stages).flatMap(([name, stage]) =>
        stage.actor === 'system' && stage.does === 'merge' ? [name] : [],
      ),
    );
    const { byStage } = await store.workload(this.projectId);
    if (stages.some((stage) => (byStage[stage] ?? 0) > 0)) return false;
    const ids = forecast.flatMap(({ taskId }) => taskId ?? []);
    const others = ids.length === 0 ? [] : await store.tasks({ projectId: this.projectId, ids });
    return others.every(({ role }) => role === null);
  }
}
