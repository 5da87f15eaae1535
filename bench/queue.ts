import type { ProjectRules, Task } from '@tidemill/contract';
import { AUTONOMY_PRESETS, LoopConfig } from '@tidemill/contract';
import type { Command, Reply } from '@tidemill/core';
import { createIds, systemClock } from '../packages/daemon/src/clock.ts';
import type { Store } from '../packages/daemon/src/ports.ts';
import { openStore } from '../packages/daemon/src/store/open.ts';

export const PROJECT = 'project_bench';

/**
 * The shortest pipeline there is: one stage, no agent, no evidence. A claim and the end of the stage are then what
 * fetching and completing a job are to a queue.
 */
const rules: ProjectRules = {
  target: 'main',
  defaultPipeline: 'one',
  gates: [],
  reviewPlans: false,
  critical: [],
  hilConfig: AUTONOMY_PRESETS.full,
  budget: { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' },
  loop: LoopConfig.parse({}),
  pipelines: {
    one: {
      name: 'one',
      description: '',
      start: 'check',
      stages: { check: { actor: 'system', does: 'verify', on: { approved: 'done', failed: 'blocked' } } },
    },
  },
};

/** A store used as a queue: tasks to claim, workers that claim and finish them. */
export class Queue {
  readonly store: Store;
  readonly #ids = createIds(systemClock);

  private constructor(store: Store) {
    this.store = store;
  }

  static async open(url: string, workers: number, schema?: string): Promise<Queue> {
    const store = await openStore({ url, schema, clock: systemClock, ids: createIds(systemClock) });
    const queue = new Queue(store);
    await queue.#must({ type: 'project.register', projectId: PROJECT, name: 'bench', root: '/bench', rules });
    await Promise.all(
      Array.from({ length: workers }, (_, index) => {
        const workerId = workerOf(index);
        return queue.#must({ type: 'worker.register', projectId: PROJECT, workerId, name: workerId, role: 'verifier' });
      }),
    );
    return queue;
  }

  async add(): Promise<Task> {
    const { task } = await this.#must({
      type: 'task.create',
      projectId: PROJECT,
      taskId: this.#ids.next('task'),
      title: 'Sort the tide table by height',
      body: 'The table is sorted by time. Sort it by height when `--by height` is given.',
      kind: 'feature',
      accept: ['`--by height` sorts by height', 'the default stays by time'],
      files: [],
      dependsOn: [],
      priority: 2,
    });
    return task!;
  }

  async fill(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1000)
      await Promise.all(Array.from({ length: Math.min(left, 1000) }, () => this.add()));
  }

  /** Null when nothing is left. Small window first, larger when all in it are taken: as the engine does it. */
  async claim(worker: number): Promise<Task | null> {
    const workerId = workerOf(worker);
    const command = { type: 'work.claim', projectId: PROJECT, workerId, role: 'verifier', owner: 'bench' } as const;
    for (const window of [8, 128, 2048]) {
      const reply = await this.store.execute({ ...command, window });
      if (reply.ok) return reply.task;
      if (reply.refusal.code === 'nothing_ready') return null;
      if (reply.refusal.code !== 'window_exhausted') throw new Error(`a claim was refused: ${reply.refusal.message}`);
    }
    return null;
  }

  async finish(task: Task): Promise<void> {
    const { id: taskId, lease } = task;
    await this.#must({
      type: 'stage.finish',
      projectId: PROJECT,
      subjectId: taskId,
      token: lease!.token,
      outcome: 'approved',
    });
  }

  async #must(command: Command): Promise<Extract<Reply, { ok: true }>> {
    const reply = await this.store.execute(command);
    if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
    return reply;
  }
}

const workerOf = (index: number) => `${PROJECT}/worker-${index}`;
