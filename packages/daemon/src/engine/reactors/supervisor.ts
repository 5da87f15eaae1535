import { AskedQuestion, engineActor, type Task } from '@tidemill/contract';
import {
  type CommandOf,
  decideLock,
  examine,
  type HealthFinding,
  isReady,
  type RunningTask,
  STUCK_CHOICES,
  type StuckTask,
  stuckAction,
  type WaitGraph,
} from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { LeasedJob, LeasedTask, type LeasedWork } from '../workers/leased-work.ts';

const SUPERVISOR = engineActor('supervisor');
const HOUR = 3_600_000;
/** Maximum number of waiting tasks to examine. The claim itself checks every task. */
const LOOKED_AT = 200;

interface Watched {
  leased: LeasedWork | null;
}

/**
 * Checks everything once a minute and acts by fixed rules, without a model. It raises alerts, asks about stuck tasks,
 * interrupts tasks that stay stuck, and takes files from less urgent work. Every action is recorded with its reason.
 */
export class Supervisor {
  readonly #deps: EngineDeps;
  readonly #slots: () => readonly Watched[];
  /** The severities of the last pass, so that an alert is raised only when a state begins or changes. */
  #alerted = new Map<string, string>();
  #decided = new Set<string>();

  constructor(deps: EngineDeps, slots: () => readonly Watched[]) {
    this.#deps = deps;
    this.#slots = slots;
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
    const errors = new Map<string, number>();
    for (const { workerId, failure } of ended)
      if (failure !== null) errors.set(workerId, (errors.get(workerId) ?? 0) + 1);
    const waits = await this.#settleLocks(leased, now);
    // An outside worker without a task sends no heartbeats.
    const awaited = workers.filter(
      ({ id, isOutside }) => !isOutside || leased.some(({ lease }) => lease?.workerId === id),
    );
    const { findings, stuck } = examine({
      now,
      workers: awaited,
      running: this.#running(),
      errors,
      waits,
      queueDepth: load.ready,
    });
    const isIdle = load.leased === 0 && load.ready === 0;
    await this.#alert(findings.filter(({ kind }) => !(isIdle && kind === 'queue_low')));
    for (const each of stuck) await this.#actOn(each);
    for (const { leased: job } of this.#slots()) if (job instanceof LeasedJob) await this.#endIfSilent(job, now);
    return load.ready > 0 || load.waiting > 0;
  }

  #running(): RunningTask[] {
    return this.#slots().flatMap(({ leased }) =>
      leased instanceof LeasedTask && !leased.isFrozen
        ? [{ task: leased.task, lastSignAt: leased.lastSignAt, isTesting: leased.isTesting }]
        : [],
    );
  }

  async #alert(findings: HealthFinding[]): Promise<void> {
    const { store, project } = this.#deps;
    const seen = new Map(findings.map((finding) => [`${finding.kind} ${finding.subject}`, finding.severity as string]));
    for (const finding of findings) {
      if (this.#alerted.get(`${finding.kind} ${finding.subject}`) === finding.severity) continue;
      await store.execute({ type: 'alert.raise', projectId: project.id, ...finding });
    }
    this.#alerted = seen;
  }

  async #actOn({ task, silentMs, action }: StuckTask): Promise<void> {
    const { store, project } = this.#deps;
    const about = { projectId: project.id, taskId: task.id };
    const reason = `no sign of life for ${Math.floor(silentMs / 60_000)} minutes`;
    const isNew = this.#isNew(`${action} ${task.id} ${task.lease?.token}`);
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

  /** Finds out which task waits for which files, and gives them to more urgent work. */
  async #settleLocks(leased: Task[], now: number): Promise<WaitGraph> {
    const { store, project } = this.#deps;
    const waits: WaitGraph = new Map();
    const running = leased.filter((task) => task.files.length > 0);
    if (running.length === 0) return waits;
    const stages = ['open', ...new Set(leased.map(({ stage }) => stage))];
    const waiting = (await store.tasks({ projectId: project.id, stages, limit: LOOKED_AT })).filter(
      (task) => isReady(task) && task.role === 'builder' && task.files.length > 0,
    );
    for (const task of waiting) {
      const { action, owner, reason } = decideLock(task, running, now);
      if (action === 'grant' || !owner) continue;
      waits.set(`#${task.number}`, [`#${owner.number}`]);
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
    return waits;
  }

  #isNew(key: string): boolean {
    if (this.#decided.has(key)) return false;
    if (this.#decided.size > 10_000) this.#decided = new Set();
    this.#decided.add(key);
    return true;
  }
}

function askAbout(task: Task, projectId: string): CommandOf<'question.ask'> {
  const { wait, skip, retry } = STUCK_CHOICES;
  const question = AskedQuestion.parse({
    text: `#${task.number} ${task.title} makes no progress. Wait, skip it, or retry it?`,
    type: 'clarifying',
    context: 'Without an answer it is interrupted after half an hour without output and retried. Its work is kept.',
    options: [
      { label: wait, recommended: true },
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
