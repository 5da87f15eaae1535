import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EndedRun, METRIC_PERIOD_MS, type TaskSpan } from '@tidemill/contract';
import type { Store } from '../ports.ts';

export interface DoneTask {
  id: string;
  claimedAt: number | null;
  doneAt: number;
}

/** How long a task was there to be worked on; null while it still is. */
export interface TaskLife {
  createdAt: number;
  finishedAt: number | null;
}

const KEPT_MS = METRIC_PERIOD_MS['30d'];
/** As many as are read within some ten milliseconds: others get their turn in between. */
const PAGE = 1000;
const FINISHED = ['done', 'cancelled'];

/** What happened in a project within the last month, read once and then only added to. */
export class RecentRuns {
  readonly #store: Store;
  readonly #projectId: string;
  #runs = new Map<string, EndedRun>();
  #done = new Map<string, DoneTask>();
  #lives = new Map<string, TaskLife>();
  /** How far the log was read; null before the first time. */
  #seq: number | null = null;
  #endedAt = 0;

  constructor(store: Store, projectId: string) {
    this.#store = store;
    this.#projectId = projectId;
  }

  get runs(): EndedRun[] {
    return [...this.#runs.values()];
  }
  get done(): DoneTask[] {
    return [...this.#done.values()];
  }
  /** Of all tasks that were there at some time of the month. */
  get lives(): TaskLife[] {
    return [...this.#lives.values()];
  }

  /** Brings it up to date. Whatever fails leaves what was known before, and is tried again from there. */
  async refresh(now: number): Promise<void> {
    const oldest = now - KEPT_MS;
    const seq = await this.#store.lastSeq();
    await this.#readRuns(oldest);
    if (this.#seq === null) await this.#readTasks(oldest);
    else await this.#readMoved(this.#seq, seq);
    this.#seq = seq;
    for (const [id, run] of this.#runs) if (run.endedAt <= oldest) this.#runs.delete(id);
    for (const [id, task] of this.#done) if (task.doneAt <= oldest) this.#done.delete(id);
    for (const [id, { finishedAt }] of this.#lives)
      if (finishedAt !== null && finishedAt <= oldest) this.#lives.delete(id);
  }

  async #readRuns(oldest: number): Promise<void> {
    for (let limit = PAGE; ; ) {
      // One moment may hold the end of several runs: what is read again is the same.
      const after = Math.max(oldest, this.#endedAt - 1);
      const asked = limit;
      const page = await this.#store.runsEnded({ projectId: this.#projectId, after, limit: asked });
      for (const run of page) this.#runs.set(run.id, run);
      const last = page.at(-1)?.endedAt ?? this.#endedAt;
      if (last === this.#endedAt) limit *= 2;
      this.#endedAt = last;
      if (page.length < asked) return;
      await nextTurn();
    }
  }

  async #readTasks(oldest: number): Promise<void> {
    const firstRuns = this.#firstRuns();
    for (let afterNumber = 0; ; ) {
      const page = await this.#store.taskSpans({ projectId: this.#projectId, afterNumber, limit: PAGE });
      for (const span of page) {
        const life = lifeOf(span);
        if (life.finishedAt !== null && life.finishedAt <= oldest) continue;
        this.#lives.set(span.id, life);
        if (span.stage === 'done') await this.#addDone(span, span.stageSince, firstRuns.get(span.id));
      }
      if (page.length < PAGE) return;
      afterNumber = page.at(-1)!.number;
      await nextTurn();
    }
  }

  async #readMoved(from: number, to: number): Promise<void> {
    let firstRuns: Map<string, FirstRun> | null = null;
    for (let after = from; after < to; ) {
      const query = { projectId: this.#projectId, types: ['task.created', 'task.moved'], after, limit: PAGE };
      const page = await this.#store.events(query);
      for (const { at, body } of page) {
        if (body.type === 'task.created') this.#lives.set(body.taskId, { createdAt: at, finishedAt: null });
        if (body.type !== 'task.moved') continue;
        const isDone = body.to === 'done';
        const known = this.#lives.get(body.taskId);
        // What was finished before the month began and comes back is no longer known.
        const task = isDone || !known ? await this.#store.task(body.taskId) : null;
        const createdAt = known?.createdAt ?? task?.createdAt ?? at;
        this.#lives.set(body.taskId, { createdAt, finishedAt: FINISHED.includes(body.to) ? at : null });
        if (!isDone) this.#done.delete(body.taskId);
        else {
          firstRuns ??= this.#firstRuns();
          const runs = Object.values(task?.runs ?? {}).reduce((sum, count) => sum + count, 0);
          await this.#addDone({ id: body.taskId, runs }, at, firstRuns.get(body.taskId));
        }
      }
      if (page.length < PAGE) return;
      after = page.at(-1)!.seq;
      await nextTurn();
    }
  }

  /** A task's first run began with its first claim; when some of its runs are older than the month, it is looked up. */
  async #addDone({ id, runs }: Pick<TaskSpan, 'id' | 'runs'>, doneAt: number, known?: FirstRun): Promise<void> {
    let claimedAt = known?.startedAt ?? null;
    if ((known?.count ?? 0) < runs) claimedAt = (await this.#store.runs(id))[0]?.startedAt ?? claimedAt;
    this.#done.set(id, { id, claimedAt, doneAt });
  }

  #firstRuns(): Map<string, FirstRun> {
    const first = new Map<string, FirstRun>();
    for (const { subjectId: taskId, startedAt } of this.#runs.values()) {
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

const lifeOf = ({ stage, createdAt, stageSince }: TaskSpan): TaskLife => ({
  createdAt,
  finishedAt: FINISHED.includes(stage) ? stageSince : null,
});
