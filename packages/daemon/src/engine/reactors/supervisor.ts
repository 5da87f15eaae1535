import { AskedQuestion, type EndedRun, isOpenAlert, type Mode, type Task, type Worker } from '@tidemill/contract';
import {
  alertId,
  type CommandOf,
  decideLock,
  examine,
  HIGH_QUEUE,
  isReady,
  type LastError,
  type RunningTask,
  STUCK_CHOICES,
  type StuckTask,
  SUPERVISED_KINDS,
  stuckAction,
} from '@tidemill/core';
import type { Store, Workload } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { LeasedJob, LeasedTask, type LeasedWork } from '../workers/leased-work.ts';
import { StandingAlerts } from './standing-alerts.ts';
import { heldTasks, SUPERVISOR, waitingReviews } from './waiting-work.ts';

const HOUR = 3_600_000;
/** Maximum number of waiting tasks to examine. The claim itself checks every task. */
const LOOKED_AT = 200;

interface Watched {
  name: string;
  leased: LeasedWork | null;
}

/** What the supervisor asks the engine. */
export interface Supervised {
  slots(): readonly Watched[];
  /** The modes whose agent is in backoff. */
  restingModes(): Mode[];
  isOverBudget(): boolean;
  /** Called each minute: checks whether a target that failed its gates passes now. */
  lookAtTarget(): Promise<void>;
}

/**
 * Checks everything once a minute and acts by fixed rules, without a model. It raises alerts and closes them, asks about
 * stuck tasks, interrupts tasks that stay stuck, and takes files from less urgent work. Every action is recorded with its
 * reason.
 */
export class Supervisor {
  readonly #deps: EngineDeps;
  readonly #engine: Supervised;
  readonly #alerts: StandingAlerts;
  #decided = new Set<string>();
  /** The queue was long since work was last idle. */
  #wasLong = false;

  constructor(deps: EngineDeps, engine: Supervised) {
    this.#deps = deps;
    this.#engine = engine;
    this.#alerts = new StandingAlerts(deps, SUPERVISED_KINDS);
  }

  /** Returns whether work is waiting for a worker. */
  async pass(): Promise<boolean> {
    const { store, project, clock } = this.#deps;
    const now = clock.now();
    const [workers, ended, load, leased] = await Promise.all([
      store.workers(project.id),
      store.runsEnded({ projectId: project.id, after: now - HOUR }),
      store.workload(project.id),
      store.leased(project.id),
    ]);
    await this.#settleLocks(leased, now);
    const reviews = await waitingReviews(this.#deps, {
      now,
      load,
      workers,
      leased,
      restingModes: this.#engine.restingModes(),
      isOverBudget: this.#engine.isOverBudget(),
    });
    this.#wasLong = load.ready >= HIGH_QUEUE || (this.#wasLong && !isIdle(load));
    const { findings, stuck } = examine({
      now,
      workers: await this.#awaited(workers, leased),
      running: await this.#running(leased),
      ended,
      errors: await lastErrors(store, ended),
      queueDepth: load.ready,
      wasLong: this.#wasLong,
      held: await heldTasks(this.#deps, load),
      reviews,
    });
    await this.#alerts.settle(findings);
    for (const each of stuck) await this.#actOn(each);
    for (const { leased: job } of this.#engine.slots()) if (job instanceof LeasedJob) await this.#endIfSilent(job, now);
    await this.#engine.lookAtTarget();
    return load.ready > 0 || load.waiting > 0;
  }

  /**
   * The workers whose heartbeats are expected. An outside worker without a task sends none, unless it lost its task
   * because it sent none: then its alert stays until it comes back.
   */
  async #awaited(workers: Worker[], leased: Task[]): Promise<Worker[]> {
    const { store, project } = this.#deps;
    const isBusy = ({ id }: Worker) => leased.some(({ lease }) => lease?.workerId === id);
    const idle = workers.filter((worker) => worker.isOutside && !isBusy(worker));
    const lost = await Promise.all(
      idle.map(async ({ id, name }) => {
        const alert = await store.record('alert', alertId(project.id, 'worker_unresponsive', name));
        return alert && isOpenAlert(alert) ? id : null;
      }),
    );
    return workers.filter((worker) => !worker.isOutside || isBusy(worker) || lost.includes(worker.id));
  }

  /** With the rows as they are now: a person may have answered since the claim. */
  async #running(rows: Task[]): Promise<RunningTask[]> {
    const running = this.#engine.slots().map(async ({ name, leased }) => {
      if (!(leased instanceof LeasedTask) || leased.isFrozen) return [];
      const task = rows.find(({ id }) => id === leased.task.id) ?? leased.task;
      const run = task.lastRunId === null ? null : await this.#deps.store.run(task.lastRunId);
      const tool = run?.status === 'running' ? run.progress?.tools?.current : null;
      const { lastSignAt, isTesting, lastOutput } = leased;
      return [{ task, worker: name, lastSignAt, isTesting, lastOutput, tool }];
    });
    return (await Promise.all(running)).flat();
  }

  async #actOn({ task, silentMs, action }: StuckTask): Promise<void> {
    const { store, project } = this.#deps;
    const about = { projectId: project.id, taskId: task.id };
    const reason = `no sign of life for ${Math.floor(silentMs / 60_000)} minutes`;
    const isNew = this.#isNew(`${action} ${task.id} ${task.lease?.token} ${task.leftAloneUntil}`);
    if (isNew) await store.execute({ type: 'supervisor.decide', ...about, action, subject: `#${task.number}`, reason });
    if (action === 'ask' && isNew) await store.execute(askAbout(task, project.id));
    if (action === 'interrupt')
      await store.execute({
        type: 'lease.take',
        projectId: project.id,
        subjectId: task.id,
        by: SUPERVISOR,
        why: reason,
        isStuck: true,
      });
  }

  /** A job has no questions, so one that is silent for too long is interrupted. */
  async #endIfSilent({ fence, isFrozen, lastSignAt }: LeasedJob, now: number): Promise<void> {
    if (isFrozen || stuckAction(now - lastSignAt, 0) !== 'interrupt') return;
    const why = 'no sign of life for half an hour';
    await this.#deps.store.execute({ type: 'lease.take', ...fence, by: SUPERVISOR, why, isStuck: true });
  }

  /** Gives files to more urgent work. */
  async #settleLocks(leased: Task[], now: number): Promise<void> {
    const { store, project } = this.#deps;
    const mayHold = ({ files, forecast }: Task) => files.length > 0 || forecast.length > 0;
    const running = leased.filter(mayHold);
    if (running.length === 0) return;
    const stages = ['open', ...new Set(leased.map(({ stage }) => stage))];
    const waiting = (await store.tasks({ projectId: project.id, stages, limit: LOOKED_AT })).filter(
      (task) => isReady(task) && task.role === 'builder' && mayHold(task),
    );
    for (const task of waiting) {
      const { action, owner, reason } = decideLock(task, running, now);
      if (action === 'grant' || !owner) continue;
      const about = { projectId: project.id, taskId: task.id, action, subject: `#${task.number}`, reason };
      if (this.#isNew(`${action} ${task.id} ${owner.id} ${owner.lease?.token}`))
        await store.execute({ type: 'supervisor.decide', ...about });
      if (action === 'preempt')
        await store.execute({
          type: 'lease.take',
          projectId: project.id,
          subjectId: owner.id,
          by: SUPERVISOR,
          why: `#${task.number} is more urgent`,
        });
    }
  }

  #isNew(key: string): boolean {
    if (this.#decided.has(key)) return false;
    if (this.#decided.size > 10_000) this.#decided = new Set();
    this.#decided.add(key);
    return true;
  }
}

/** The newest error of each worker. */
async function lastErrors(store: Store, ended: EndedRun[]): Promise<Map<string, LastError>> {
  const last = new Map(ended.filter(({ failure }) => failure !== null).map((run) => [run.workerId, run]));
  const read = [...last].map(async ([workerId, { id, subjectId, failure }]) => {
    const [run, task] = await Promise.all([store.run(id), store.task(subjectId)]);
    return [workerId, { number: task?.number ?? null, text: run?.summary || failure! }] as const;
  });
  return new Map(await Promise.all(read));
}

const isIdle = ({ leased, ready }: Workload) => leased === 0 && ready === 0;

function askAbout(task: Task, projectId: string): CommandOf<'question.ask'> {
  const { wait, skip, retry } = STUCK_CHOICES;
  const question = AskedQuestion.parse({
    text: `#${task.number} ${task.title} makes no progress. Wait, skip it, or retry it?`,
    type: 'clarifying',
    context: 'Without an answer it is interrupted after half an hour without output and retried. Its work is kept.',
    options: [
      {
        label: wait,
        recommended: true,
        description: 'It goes on. You are asked again after another half hour of silence.',
      },
      { label: skip, description: 'It is blocked until you retry it.' },
      { label: retry, description: 'It is interrupted now and started again. Its work is kept.' },
    ],
    allowFreeText: false,
    tags: ['stuck'],
  });
  return {
    type: 'question.ask' as const,
    projectId,
    taskId: task.id,
    stage: task.stage,
    questions: [question],
    ...({ agent: 'supervisor', source: 'supervisor', sourceId: task.id, effect: { kind: 'stuck' } } as const),
  };
}
