import { setImmediate as nextTurn } from 'node:timers/promises';
import { METRIC_PERIOD_MS, type Mode, type Outcome, type Run } from '@tidemill/contract';
import type { Store } from '../ports.ts';

/** The part of a run that figures are made of: a month of runs must fit into little memory. */
export interface RunFact {
  id: string;
  taskId: string;
  workerId: string;
  mode: Mode;
  attempt: number;
  outcome: Outcome | null;
  isFailure: boolean;
  isSuccess: boolean;
  isBuilding: boolean;
  startedAt: number;
  endedAt: number;
  costUsd: number;
}

export interface DoneTask {
  id: string;
  claimedAt: number | null;
  doneAt: number;
}

const KEPT_MS = METRIC_PERIOD_MS['30d'];
const PAGE = 2000;

/** What happened in a project within the last month, read once and then only added to. */
export class RunLedger {
  readonly #store: Store;
  readonly #projectId: string;
  #runs = new Map<string, RunFact>();
  #done = new Map<string, DoneTask>();
  /** How far the log was read; null before the first time. */
  #seq: number | null = null;
  #endedAt = 0;

  constructor(store: Store, projectId: string) {
    this.#store = store;
    this.#projectId = projectId;
  }

  get runs(): RunFact[] {
    return [...this.#runs.values()];
  }
  get done(): DoneTask[] {
    return [...this.#done.values()];
  }

  /** Brings it up to date. Whatever fails leaves what was known before, and is tried again from there. */
  async refresh(now: number): Promise<void> {
    const oldest = now - KEPT_MS;
    const seq = await this.#store.lastSeq();
    await this.#readRuns(oldest);
    if (this.#seq === null) await this.#readDone(oldest);
    else await this.#readMoved(this.#seq, seq);
    this.#seq = seq;
    for (const [id, run] of this.#runs) if (run.endedAt <= oldest) this.#runs.delete(id);
    for (const [id, task] of this.#done) if (task.doneAt <= oldest) this.#done.delete(id);
  }

  async #readRuns(oldest: number): Promise<void> {
    for (let limit = PAGE; ; ) {
      // One moment may hold the end of several runs: what is read again is the same.
      const after = Math.max(oldest, this.#endedAt - 1);
      const asked = limit;
      const page = await this.#store.runsEnded({ projectId: this.#projectId, after, limit: asked });
      for (const run of page) this.#runs.set(run.id, factOf(run));
      const last = page.at(-1)?.endedAt ?? this.#endedAt;
      if (last === this.#endedAt) limit *= 2;
      this.#endedAt = last;
      if (page.length < asked) return;
      // A month of runs is much to read: others get their turn in between.
      await nextTurn();
    }
  }

  async #readDone(oldest: number): Promise<void> {
    const firstRuns = this.#firstRuns();
    for (let afterNumber = 0; ; ) {
      const query = { projectId: this.#projectId, stages: ['done'], afterNumber, limit: PAGE };
      const page = await this.#store.tasks(query);
      for (const { id, stageSince, runs } of page)
        if (stageSince > oldest) await this.#addDone(id, stageSince, firstRuns.get(id), sum(runs));
      if (page.length < PAGE) return;
      afterNumber = page.at(-1)!.number;
    }
  }

  async #readMoved(from: number, to: number): Promise<void> {
    const firstRuns = this.#firstRuns();
    for (let after = from; after < to; ) {
      const query = { projectId: this.#projectId, types: ['task.moved'], after, limit: PAGE };
      const page = await this.#store.events(query);
      for (const { at, body } of page) {
        if (body.type !== 'task.moved') continue;
        if (body.to !== 'done') this.#done.delete(body.taskId);
        else {
          const task = await this.#store.task(body.taskId);
          await this.#addDone(body.taskId, at, firstRuns.get(body.taskId), sum(task?.runs ?? {}));
        }
      }
      if (page.length < PAGE) return;
      after = page.at(-1)!.seq;
    }
  }

  /** A task's first run began with its first claim; when some of its runs are older than the month, it is looked up. */
  async #addDone(id: string, doneAt: number, known: FirstRun | undefined, runs: number): Promise<void> {
    let claimedAt = known?.startedAt ?? null;
    if ((known?.count ?? 0) < runs) claimedAt = (await this.#store.runs(id))[0]?.startedAt ?? claimedAt;
    this.#done.set(id, { id, claimedAt, doneAt });
  }

  #firstRuns(): Map<string, FirstRun> {
    const first = new Map<string, FirstRun>();
    for (const { taskId, startedAt } of this.#runs.values()) {
      const known = first.get(taskId);
      if (!known) first.set(taskId, { startedAt, count: 1 });
      else {
        known.startedAt = Math.min(known.startedAt, startedAt);
        known.count += 1;
      }
    }
    return first;
  }
}

interface FirstRun {
  startedAt: number;
  count: number;
}

const sum = (runs: Partial<Record<Mode, number>>) => Object.values(runs).reduce((all, count) => all + (count ?? 0), 0);

function factOf(run: Run): RunFact {
  const { id, taskId, workerId, mode, attempt, outcome, failure, startedAt, endedAt, usage } = run;
  const isFailure = failure !== null || outcome === 'failed';
  return {
    ...{ id, taskId, workerId, mode, attempt, outcome, startedAt, endedAt: endedAt!, costUsd: usage.costUsd ?? 0 },
    isFailure,
    isSuccess: !isFailure && outcome !== 'interrupted',
    isBuilding: mode === 'implement' || mode === 'request_changes',
  };
}
