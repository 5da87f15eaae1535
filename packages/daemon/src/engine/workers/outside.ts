import {
  type AgentEnvelope,
  AppError,
  type Caller,
  isBuilding,
  Mode,
  type OutsideClaim,
  type Run,
  type Task,
  type Usage,
  workerIdOf,
  workerName,
} from '@tidemill/contract';
import {
  HEARTBEAT_MS,
  mayHandle,
  modeOf,
  outsideOwner,
  outsideRefusal,
  problemOfResult,
  type ShownChange,
  type StartHolds,
  stageOf,
  unwrap,
} from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { claimNext } from '../dispatch/claim-next.ts';
import { snapshotWork } from '../dispatch/recovery.ts';
import { lessonsOfRun } from '../learning/run-lessons.ts';
import { NOTHING_USED, setAside, withReport } from '../reactors/spending.ts';
import { briefingFor, namesIn } from '../stages/briefing.ts';
import {
  beginMerge,
  type Conclusion,
  commitWork,
  proposalOf,
  revertStrayWrites,
  touchesIn,
} from '../stages/conclusion.ts';
import { LeasedTask, Unwound } from './leased-work.ts';
import { Turns } from './turns.ts';

/** More names than this are most likely a mistake of the client. */
const MAX_OUTSIDE_WORKERS = 100;
/** How long a task waits when its worktree could not be prepared. */
const PREPARE_RETRY_MS = 30_000;

/** A caller that claims to hold a task, with its fence. */
type Holder = { fence: number; caller: Caller };

interface OutsideContext {
  /** False while the engine shuts down or an emergency stop runs. */
  mayBegin(): boolean;
  /** What does not start for now. */
  holds(): Promise<StartHolds>;
  /** Settles when no slot uses the task's worktree. */
  released(taskId: string): Promise<void>;
}

/**
 * Work for workers that the daemon did not start:
 *
 *   claim ──▶ worktree, run, prompt ──beats──▶ finish: committed, the pipeline continues as after any agent
 *                                       └────▶ release, or silence for 120 s: work kept, task back in its stage
 * The rules of agents apply: the same claim, fence, budget and outcomes. Their results are not trusted.
 */
export class OutsideWork {
  readonly #deps: EngineDeps;
  readonly #context: OutsideContext;
  /** By worker. */
  readonly #turns = new Turns();

  constructor(deps: EngineDeps, context: OutsideContext) {
    this.#deps = deps;
    this.#context = context;
  }

  /**
   * Returns null when nothing is ready. A worker that already holds a task gets the same claim again: the response may
   * have been lost.
   */
  claim(name: string, caller: Caller): Promise<OutsideClaim | null> {
    const workerId = workerIdOf(this.#deps.project.id, name);
    return this.#turns.take(workerId, async () => {
      this.#refuseWhileStopping();
      await this.#register(workerId, name);
      // An emergency stop meanwhile may have missed this worker.
      this.#refuseWhileStopping();
      const task = (await this.#claimedBefore(workerId, caller)) ?? (await this.#next(workerId, name, caller));
      return task && this.#begin(task, name);
    });
  }

  /** Releases the task unfinished. The files stay in the worktree and in a snapshot. */
  release(given: Task, { fence, caller }: Holder, why: string): Promise<Task> {
    return this.#withLease(given, { fence, caller }, async ({ task }) => {
      await snapshotWork(this.#deps, task, why);
      const about = { projectId: task.projectId, subjectId: task.id, token: fence };
      return unwrap(await this.#deps.store.execute({ type: 'lease.release', ...about, why })).task!;
    });
  }

  /** The worker's result is a proposal: the files and the gates decide. */
  async finish(about: Task, holder: Holder, result: AgentEnvelope, usage: Usage): Promise<Task> {
    refuseOtherHolders(about, holder);
    const run = await this.#runOf(about);
    if (!run)
      throw new AppError('conflict', `#${about.number} has no running run`, {
        hint: 'Claim again: you get the same task with a new run.',
      });
    const shown = run.mode === 'review' ? await this.#shownTo(about) : undefined;
    const problem = problemOfResult(result, { mode: run.mode, criteria: about.criteria, shown });
    if (problem !== null)
      throw new AppError('bad_input', problem, {
        hint: 'Nothing was changed. Correct the result and submit it again.',
      });
    return this.#withLease(about, holder, async (leased) => {
      const conclusion = await this.#conclude(leased, run.mode, result);
      const end = {
        type: 'run.finish',
        runId: run.id,
        usage: withReport(NOTHING_USED, usage),
        shownFiles: shown?.files,
        ...conclusion,
      } as const;
      return unwrap(await leased.execute(end)).task!;
    });
  }

  async #shownTo({ number, branch }: Task): Promise<ShownChange> {
    const change = await this.#deps.workspace.diff({ number, branch }, 0);
    return { files: namesIn(change), gates: this.#deps.project.rules.gates };
  }

  /** Settles when no request is in progress. */
  settled(): Promise<void> {
    return this.#turns.settled();
  }

  #refuseWhileStopping(): void {
    if (this.#context.mayBegin()) return;
    const options = { hint: 'Try again in a moment.', retriable: true };
    throw new AppError('daemon_unreachable', 'the engine is stopping and gives out no tasks', options);
  }

  async #register(workerId: string, name: string): Promise<void> {
    const { store, project, clock } = this.#deps;
    const workers = await store.workers(project.id);
    const known = workers.find(({ id }) => id === workerId);
    const own = workers.filter(({ isOutside }) => !isOutside);
    if (!known && own.every(({ desired }) => desired !== 'running'))
      throw new AppError(
        'worker_paused',
        `all workers of ${project.name} are paused or stopped, so no new worker may start`,
        {
          hint: '`tidemill resume` starts all of them again.',
        },
      );
    if (!known && workers.length - own.length >= MAX_OUTSIDE_WORKERS)
      throw new AppError('conflict', `there are already ${MAX_OUTSIDE_WORKERS} workers outside the daemon`, {
        hint: 'Use one of their names, or remove one with `tidemill workers remove NAME`.',
      });
    const about = { projectId: project.id, workerId };
    unwrap(await store.execute({ type: 'worker.register', ...about, name, role: 'builder', isOutside: true }));
    // A worker may poll often while idle. Its heartbeats are limited to the usual rate.
    if (clock.now() - (known?.beats.at(-1)?.at ?? 0) < HEARTBEAT_MS) return;
    unwrap(await store.execute({ type: 'worker.beat', ...about, beat: { memoryMb: 0, cpuPercent: 0 } }));
  }

  async #claimedBefore(workerId: string, caller: Caller): Promise<Task | null> {
    const { store, project } = this.#deps;
    const leased = (await store.leased(project.id)).find(({ lease }) => lease?.workerId === workerId);
    if (!leased?.lease) return null;
    if (!mayHandle(leased.lease.owner, caller))
      throw new AppError('forbidden', `${workerName(workerId)} works on #${leased.number} under another token`, {
        hint: 'Choose another worker name.',
      });
    const fence = { projectId: project.id, subjectId: leased.id, token: leased.lease.token };
    const { task } = unwrap(await store.execute({ type: 'lease.renew', ...fence }));
    return task?.lease ? task : null;
  }

  async #next(workerId: string, name: string, caller: Caller): Promise<Task | null> {
    const { store, project } = this.#deps;
    const who = { projectId: project.id, workerId, role: 'builder', owner: outsideOwner(name, caller) } as const;
    const agents = Object.fromEntries(Mode.options.map((mode) => [mode, labelOf(name)]));
    const holds = await this.#context.holds();
    const reply = await claimNext(store, who.role, (window) => ({ type: 'work.claim', ...who, window, agents, holds }));
    // After a change of the pipeline, the claim may move the task to another role. Then the next task is tried.
    if (reply.ok) return reply.task?.lease?.workerId === workerId ? reply.task : this.#next(workerId, name, caller);
    const { code } = reply.refusal;
    if (code === 'nothing_ready' || code === 'window_exhausted') return null;
    return unwrap(reply).task;
  }

  async #begin(task: Task, name: string): Promise<OutsideClaim> {
    const leased = new LeasedTask(task, 'builder', this.#deps.store, this.#deps.clock);
    try {
      const before = await this.#runOf(task);
      await this.#context.released(task.id);
      const opened = await this.#deps.workspace.open(leased.ref);
      const { path: worktree } = opened;
      const prepared = await this.#deps.preparation?.worktree(opened, leased);
      if (prepared?.kind === 'failed' && prepared.isEnvironment)
        throw new AppError('conflict', prepared.text, { hint: 'Fix this. The task waits.', retriable: true });
      const { id: runId, mode } = before ?? (await this.#startRun(leased, name));
      const { lessons, record } = await lessonsOfRun(this.#deps, task, runId, mode);
      if (record) await this.#deps.store.execute(record);
      const { promptTokens, dropped, prompt } = await briefingFor(this.#deps, task, mode, lessons);
      const told = lessons.map(({ ref }) => ref);
      if (!before) await leased.must({ type: 'run.brief', runId, promptTokens, dropped, lessons: told });
      const { number, title, stage } = task;
      const { token: fence, expiresAt } = task.lease!;
      const hilConfig = task.hilConfig ?? this.#deps.project.rules.hilConfig;
      return { number, title, stage, mode, runId, fence, expiresAt, worktree, prompt, hilConfig };
    } catch (error) {
      await this.#giveBack(leased, error);
      throw asRefusal(error, task);
    }
  }

  async #startRun(leased: LeasedTask, name: string): Promise<{ id: string; mode: Mode }> {
    const { task } = leased;
    const stage = stageOf(this.#deps.project.rules, task);
    if (stage?.actor !== 'agent') throw new AppError('wrong_stage', `no agent works in stage ${task.stage}`);
    const mode = modeOf(stage, task);
    if (isBuilding(mode)) await beginMerge(this.#deps, leased);
    const id = this.#deps.ids.next('run');
    unwrap(await leased.execute({ type: 'run.start', runId: id, mode, agent: labelOf(name) }));
    return { id, mode };
  }

  /** A task that could not be begun waits where it is, for anyone who comes next. */
  async #giveBack(leased: LeasedTask, error: unknown): Promise<void> {
    const why = error instanceof Error ? error.message : String(error);
    try {
      if (error instanceof AppError && error.code === 'budget_exhausted') await setAside(this.#deps, leased, why);
      else if (!(error instanceof Unwound)) await leased.must({ type: 'stage.wait', why, untilMs: PREPARE_RETRY_MS });
    } catch (again) {
      // The lease expires by itself.
      if (!(again instanceof Unwound))
        this.#deps.onNote(`releasing #${leased.task.number} could not be recorded`, again);
    }
  }

  async #conclude(leased: LeasedTask, mode: Mode, result: AgentEnvelope): Promise<Conclusion> {
    if (!isBuilding(mode)) {
      await revertStrayWrites(this.#deps, leased, mode);
      return proposalOf(result);
    }
    const { tree, files } = await commitWork(this.#deps, leased, mode);
    const proposed = proposalOf(result, files);
    if (proposed.outcome !== 'pr_ready') return proposed;
    // The verify stage runs the gates, because there is no evidence for this tree.
    return { ...proposed, tree, ...(await touchesIn(this.#deps, leased, files)) };
  }

  /** Runs `work` under the fence. The lease is renewed first, so that it does not expire meanwhile. */
  async #withLease(about: Task, holder: Holder, work: (leased: LeasedTask) => Promise<Task>): Promise<Task> {
    refuseOtherHolders(about, holder);
    return this.#turns.take(about.lease!.workerId, async () => {
      const { store, clock } = this.#deps;
      const lease = { projectId: about.projectId, subjectId: about.id, token: holder.fence };
      const { task } = unwrap(await store.execute({ type: 'lease.renew', ...lease }));
      refuseOtherHolders(task!, holder);
      try {
        return await work(new LeasedTask(task!, 'builder', store, clock));
      } catch (error) {
        throw asRefusal(error, task!);
      }
    });
  }

  async #runOf({ lastRunId }: Task): Promise<Run | null> {
    const run = lastRunId ? await this.#deps.store.run(lastRunId) : null;
    return run?.status === 'running' ? run : null;
  }
}

const labelOf = (name: string) => `outside ${name}`;

function refuseOtherHolders(task: Task, { fence, caller }: Holder): void {
  const refusal = outsideRefusal(task, fence, caller);
  if (refusal) unwrap({ ok: false, refusal });
}

/** The worker lost the task through no fault of its own. It gets the same refusal as a late one. */
function asRefusal(error: unknown, { number }: Task): unknown {
  if (!(error instanceof Unwound)) return error;
  return new AppError('stale_lease', `task #${number} was taken from this worker`, {
    hint: 'Stop working on it. The work in its worktree is kept.',
    cause: error,
  });
}
