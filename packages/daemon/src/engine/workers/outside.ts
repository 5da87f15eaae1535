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
  stageOf,
  unwrap,
} from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { claimNext } from '../dispatch/claim-next.ts';
import { keep } from '../dispatch/recovery.ts';
import { NOTHING_USED, setAside, withReport } from '../reactors/spending.ts';
import { briefingFor, namesIn } from '../stages/briefing.ts';
import { beginMerge, type Conclusion, commitWork, proposalOf, touchesIn, undoStrays } from '../stages/conclusion.ts';
import { LeasedTask, Unwound } from './leased-work.ts';
import { Turns } from './turns.ts';

/** More names than this are a mistake of whoever makes them up. */
const MAX_OUTSIDE_WORKERS = 100;
/** How long a task rests whose worktree could not be made ready. */
const TROUBLE_MS = 30_000;

/** Who says to hold a task, and by which fence. */
type Holder = { fence: number; caller: Caller };

interface Surroundings {
  /** False from the moment the engine stops, or everything is stopped. */
  mayBegin(): boolean;
  /** Settles when no slot has the task's worktree any more. */
  letGo(taskId: string): Promise<void>;
}

/**
 * Work for workers that are no children of the daemon:
 *
 *   claim ──▶ worktree, run, prompt ──beats──▶ finish: committed, then the pipeline goes on as after any agent
 *                                       └────▶ release, or silence for 120 s: work kept, task back in its stage
 * They are held to what an agent is held to: the same claim, fence, budget and outcomes. Nothing they say is believed.
 */
export class OutsideWork {
  readonly #deps: EngineDeps;
  readonly #around: Surroundings;
  /** By worker. */
  readonly #turns = new Turns();

  constructor(deps: EngineDeps, around: Surroundings) {
    this.#deps = deps;
    this.#around = around;
  }

  /** Null when nothing is ready. Whoever holds a task already gets the same claim again: the answer may have been lost. */
  claim(name: string, caller: Caller): Promise<OutsideClaim | null> {
    const workerId = workerIdOf(this.#deps.project.id, name);
    return this.#turns.take(workerId, async () => {
      this.#refuseWhileStopping();
      await this.#register(workerId, name);
      // An emergency stop that was called meanwhile may not have known of this worker.
      this.#refuseWhileStopping();
      const task = (await this.#claimedBefore(workerId, caller)) ?? (await this.#next(workerId, name, caller));
      return task && this.#begin(task, name);
    });
  }

  /** Gives the task back unfinished. What lies in the worktree stays there, and in a snapshot. */
  release(given: Task, { fence, caller }: Holder, why: string): Promise<Task> {
    return this.#holding(given, { fence, caller }, async ({ task }) => {
      await keep(this.#deps, task, why);
      const about = { projectId: task.projectId, subjectId: task.id, token: fence };
      return unwrap(await this.#deps.store.execute({ type: 'lease.release', ...about, why })).task!;
    });
  }

  /** What the worker says of its work is a proposal: the files decide, and the gates after them. */
  async finish(about: Task, holder: Holder, result: AgentEnvelope, usage: Usage): Promise<Task> {
    refuseOthers(about, holder);
    const run = await this.#runOf(about);
    if (!run)
      throw new AppError('conflict', `no run of #${about.number} is under way`, {
        hint: 'Claim again: the same task is given out, with a run to hand in.',
      });
    const shown = run.mode === 'review' ? await this.#shownTo(about) : undefined;
    const problem = problemOfResult(result, { mode: run.mode, criteria: about.criteria, shown });
    if (problem !== null) throw new AppError('bad_input', problem, { hint: 'Nothing was changed; hand it in anew.' });
    return this.#holding(about, holder, async (leased) => {
      const conclusion = await this.#conclude(leased, run.mode, result);
      const end = {
        type: 'run.finish',
        ...{ runId: run.id, usage: withReport(NOTHING_USED, usage), shownFiles: shown?.files, ...conclusion },
      } as const;
      return unwrap(await leased.execute(end)).task!;
    });
  }

  async #shownTo({ number, branch }: Task): Promise<ShownChange> {
    const change = await this.#deps.workspace.diff({ number, branch }, 0);
    return { files: namesIn(change), gates: this.#deps.project.rules.gates };
  }

  /** Settles when nothing that was asked for is under way. */
  settled(): Promise<void> {
    return this.#turns.settled();
  }

  #refuseWhileStopping(): void {
    if (this.#around.mayBegin()) return;
    const told = { hint: 'Try again in a moment.', retriable: true };
    throw new AppError('daemon_unreachable', 'everything is being stopped, so nothing is given out', told);
  }

  async #register(workerId: string, name: string): Promise<void> {
    const { store, project, clock } = this.#deps;
    const workers = await store.workers(project.id);
    const known = workers.find(({ id }) => id === workerId);
    const own = workers.filter(({ isOutside }) => !isOutside);
    if (!known && own.every(({ desired }) => desired !== 'running'))
      throw new AppError('worker_paused', `nobody may work on ${project.name} now, so nobody new may begin`, {
        hint: '`tidemill resume` lets all of them work again.',
      });
    if (!known && workers.length - own.length >= MAX_OUTSIDE_WORKERS)
      throw new AppError('conflict', `${MAX_OUTSIDE_WORKERS} workers outside the daemon are known already`, {
        hint: 'Use one of their names, or remove one with `tidemill workers remove NAME`.',
      });
    const about = { projectId: project.id, workerId };
    unwrap(await store.execute({ type: 'worker.register', ...about, name, role: 'builder', isOutside: true }));
    // It may ask often while there is nothing to do; its signs of life need not be more than anybody's.
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
    const reply = await claimNext(store, (window) => ({ type: 'work.claim', ...who, window, agents }));
    // A task may turn out to be for other hands, since the pipeline was changed: then the next one is looked for.
    if (reply.ok) return reply.task?.lease?.workerId === workerId ? reply.task : this.#next(workerId, name, caller);
    const { code } = reply.refusal;
    if (code === 'nothing_ready' || code === 'window_exhausted') return null;
    return unwrap(reply).task;
  }

  async #begin(task: Task, name: string): Promise<OutsideClaim> {
    const leased = new LeasedTask(task, 'builder', this.#deps.store, this.#deps.clock);
    try {
      const before = await this.#runOf(task);
      await this.#around.letGo(task.id);
      const opened = await this.#deps.workspace.open(leased.ref);
      const { path: worktree } = opened;
      const prepared = await this.#deps.preparation?.worktree(opened, leased);
      if (prepared?.kind === 'failed' && prepared.isEnvironment)
        throw new AppError('conflict', prepared.text, { hint: 'Put it right; the task waits.', retriable: true });
      const { id: runId, mode } = before ?? (await this.#startRun(leased, name));
      const { promptTokens, dropped, prompt } = await briefingFor(this.#deps, task, mode);
      if (!before) await leased.must({ type: 'run.brief', runId, promptTokens, dropped });
      const { number, title, stage } = task;
      const { token: fence, expiresAt } = task.lease!;
      return { number, title, stage, mode, runId, fence, expiresAt, worktree, prompt };
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

  /** A task that could not be begun waits where it is, for whoever comes next. */
  async #giveBack(leased: LeasedTask, error: unknown): Promise<void> {
    const why = error instanceof Error ? error.message : String(error);
    try {
      if (error instanceof AppError && error.code === 'budget_exhausted') await setAside(this.#deps, leased, why);
      else if (!(error instanceof Unwound)) await leased.must({ type: 'stage.wait', why, untilMs: TROUBLE_MS });
    } catch (again) {
      // The lease runs out by itself.
      if (!(again instanceof Unwound))
        this.#deps.onNote(`giving up #${leased.task.number} could not be recorded`, again);
    }
  }

  async #conclude(leased: LeasedTask, mode: Mode, result: AgentEnvelope): Promise<Conclusion> {
    if (!isBuilding(mode)) {
      await undoStrays(this.#deps, leased, mode);
      return proposalOf(result);
    }
    const { tree, files } = await commitWork(this.#deps, leased, mode);
    const proposed = proposalOf(result, files);
    if (proposed.outcome !== 'pr_ready') return proposed;
    // Nothing is proven yet: the verify stage runs the gates, since it finds no evidence for this tree.
    return { ...proposed, tree, touches: await touchesIn(this.#deps, leased, files) };
  }

  /** Does `work` while the fence holds; the lease is renewed first, so that it cannot run out meanwhile. */
  async #holding(about: Task, holder: Holder, work: (leased: LeasedTask) => Promise<Task>): Promise<Task> {
    refuseOthers(about, holder);
    return this.#turns.take(about.lease!.workerId, async () => {
      const { store, clock } = this.#deps;
      const lease = { projectId: about.projectId, subjectId: about.id, token: holder.fence };
      const { task } = unwrap(await store.execute({ type: 'lease.renew', ...lease }));
      refuseOthers(task!, holder);
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

function refuseOthers(task: Task, { fence, caller }: Holder): void {
  const refusal = outsideRefusal(task, fence, caller);
  if (refusal) unwrap({ ok: false, refusal });
}

/** Losing the task halfway is nothing the worker did wrong: it is told to stop, like one that comes too late. */
function asRefusal(error: unknown, { number }: Task): unknown {
  if (!(error instanceof Unwound)) return error;
  return new AppError('stale_lease', `task #${number} was taken away meanwhile`, {
    hint: 'stop working on it; the work in its worktree is kept',
    cause: error,
  });
}
