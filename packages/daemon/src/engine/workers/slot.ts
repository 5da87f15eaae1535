import { type Actor, type DesiredState, ENGINE, type Job, type Role, type Task } from '@tidemill/contract';
import { stageOf, wayBack } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { AgentBackoff, Setback } from '../dispatch/agent-backoff.ts';
import type { Outages } from '../dispatch/outages.ts';
import { snapshotWork, tidyPrepared } from '../dispatch/recovery.ts';
import { mergeStage } from '../merge/merge-stage.ts';
import type { TargetSync } from '../merge/target-sync.ts';
import { setAside } from '../reactors/spending.ts';
import { runReplay } from '../replay/replay-run.ts';
import { agentStage, type StageReport } from '../stages/agent-stage.ts';
import { EnvironmentError } from '../stages/environment.ts';
import { runJob } from '../stages/job-run.ts';
import type { Prover } from '../stages/prove.ts';
import type { UsualTimes } from '../stages/usual-times.ts';
import { verifyStage } from '../stages/verify-stage.ts';
import { LeasedJob, LeasedTask, type LeasedWork, Unwound } from './leased-work.ts';

/** What all slots of an engine share. */
export interface SlotTools {
  agentBackoff: Pick<AgentBackoff, 'hold' | 'heldMs'>;
  prover: Prover;
  usual: UsualTimes;
  target: TargetSync;
  outages: Outages;
  /**
   * Says outside that the task is worked on, and returns it with what people wrote there. Another Tidemill may have been first:
   * then the task is cancelled.
   */
  claimOutside(task: Task): Promise<Task>;
}

/** The worker of a slot. */
export type SlotWorker = Pick<Slot, 'workerId' | 'name' | 'role'>;

/** The work of a slot, and how to clean up when it was interrupted. */
interface HeldWork {
  do(): Promise<StageReport | null>;
  unwind(error: unknown): Promise<void>;
}

/** Runs the work of one worker: one task or job at a time, from claim to the end of its stage. */
export class Slot {
  workerId: string;
  readonly name: string;
  readonly role: Role;
  readonly #deps: EngineDeps;
  readonly #agentBackoff: SlotTools['agentBackoff'];
  readonly #prover: Prover;
  readonly #usual: UsualTimes;
  readonly #target: TargetSync;
  readonly #outages: Outages;
  readonly #claimOutside: SlotTools['claimOutside'];
  leased: LeasedWork | null = null;
  /** Settles when the slot is free. */
  free: Promise<unknown> = Promise.resolve();
  #desired: { is: DesiredState; by: Actor } = { is: 'running', by: ENGINE };

  constructor(deps: EngineDeps, tools: SlotTools, worker: SlotWorker) {
    const { agentBackoff, prover, usual, target, outages, claimOutside } = tools;
    this.#deps = deps;
    this.#agentBackoff = agentBackoff;
    this.#prover = prover;
    this.#usual = usual;
    this.#target = target;
    this.#outages = outages;
    this.#claimOutside = claimOutside;
    this.workerId = worker.workerId;
    this.name = worker.name;
    this.role = worker.role;
  }

  get mayClaim(): boolean {
    return this.leased === null && this.#desired.is === 'running';
  }

  /** Never rejects: errors are recorded on the task or in the log. Returns how an agent's stage ended. */
  work(task: Task, before?: Promise<unknown>): Promise<StageReport | null> {
    const leased = new LeasedTask(task, this.role, this.#deps.store, this.#deps.clock);
    return this.#hold(leased, {
      do: async () => {
        await before;
        leased.task = await this.#claimOutside(task);
        return this.#stage(leased);
      },
      unwind: (error) => this.#unwind(leased, error),
    });
  }

  /** The same for a job. */
  workOnJob(job: Job): Promise<StageReport | null> {
    const leased = new LeasedJob(job, this.role, this.#deps.store, this.#deps.clock);
    return this.#hold(leased, {
      do: () => {
        const onSetback = (setback: Setback) => this.#agentBackoff.hold(setback);
        if (job.mode === 'replay') return runReplay(this.#deps, leased, this.#prover.baseline, onSetback);
        return runJob(this.#deps, leased, onSetback);
      },
      unwind: (error) => this.#unwindJob(leased, error),
    });
  }

  /** Applies the desired state to the current work. Claims are checked elsewhere. */
  setDesired(desired: DesiredState, by: Actor): void {
    this.#desired = { is: desired, by };
    if (!this.leased) return;
    if (desired === 'frozen') this.leased.control.freeze();
    else this.leased.thaw();
    if (desired === 'stopped') this.leased.abandon('stopped');
  }

  #hold(leased: LeasedWork, work: HeldWork): Promise<StageReport | null> {
    this.leased = leased;
    // The desired state may have changed since the claim.
    this.setDesired(this.#desired.is, this.#desired.by);
    const working = this.#play(leased, work);
    this.free = working;
    return working;
  }

  async #play(leased: LeasedWork, work: HeldWork): Promise<StageReport | null> {
    void leased.keepAlive((error) => this.#deps.onNote(`heartbeat for ${leased.label} failed`, error));
    try {
      return await work.do();
    } catch (error) {
      try {
        await work.unwind(error);
      } catch (again) {
        // The lease expires by itself, and the work can be leased again.
        if (!(again instanceof Unwound)) this.#deps.onNote(`releasing ${leased.label} could not be recorded`, again);
      }
      return null;
    } finally {
      leased.end();
      this.leased = null;
    }
  }

  async #stage(leased: LeasedTask): Promise<StageReport | null> {
    const { rules } = this.#deps.project;
    const stage = stageOf(rules, leased.task);
    const isMerge = stage?.actor === 'system' && stage.does === 'merge';
    // What people said comes before a proof and a review of what they want changed. The merge stage sees to it itself.
    if (!isMerge && wayBack(rules, leased.task) !== null) {
      await leased.must({ type: 'stage.return_to_builder' });
      return null;
    }
    if (stage?.actor === 'agent') {
      await this.#target.refresh();
      const tools = { prover: this.#prover, usual: this.#usual };
      return agentStage(this.#deps, leased, stage, this.#agentBackoff, tools);
    }
    if (stage?.actor !== 'system') throw new Error(`stage ${leased.task.stage} has no agent or system step`);
    if (stage.does === 'verify') await verifyStage(this.#deps, leased, this.#prover);
    else await mergeStage(this.#deps, leased, { prover: this.#prover, target: this.#target });
    return null;
  }

  async #unwind(leased: LeasedTask, error: unknown): Promise<void> {
    const { task, ref } = leased;
    if (error instanceof Unwound && error.why === 'lease lost') {
      this.#deps.onNote(`${this.name} stopped working on #${task.number}: the lease was lost`);
      const now = await this.#deps.store.task(task.id);
      if (now?.stage === 'cancelled') await tidyPrepared(this.#deps, (other) => other !== task.number);
      if (now?.stage === 'cancelled' && !now.lease) await this.#deps.workspace.remove(ref);
      // The new holder waits for this slot before it opens the worktree.
      else await snapshotWork(this.#deps, task, 'lease lost');
      return;
    }
    if (error instanceof Unwound && error.why === 'stopped') {
      await snapshotWork(this.#deps, task, this.#whyStopped());
      return leased.release(this.#whyStopped());
    }
    if (error instanceof Unwound && error.why === 'budget') return setAside(this.#deps, leased, error.message);
    if (error instanceof Unwound) return leased.release('Tidemill is shutting down');
    const outage = await this.#outages.look(true);
    // The task is not the cause. It continues later, and the attempt does not count.
    if (outage) return leased.release(outage.text);
    if (error instanceof EnvironmentError) return this.#wait(leased, error);
    this.#deps.onNote(`${this.name} failed on #${task.number}`, error);
    await this.#reportFailure(leased, error instanceof Error ? error.message : String(error));
  }

  /** A job has no worktree to keep and no stage to wait in. It is released, or its failed run is counted. */
  async #unwindJob(leased: LeasedJob, error: unknown): Promise<void> {
    if (error instanceof Unwound && error.why === 'lease lost') return;
    if (error instanceof Unwound) return leased.release(error.why === 'stopped' ? this.#whyStopped() : error.message);
    const outage = await this.#outages.look(true);
    if (outage) return leased.release(outage.text);
    this.#deps.onNote(`${this.name} failed on ${leased.label}`, error);
    const job = await this.#deps.store.record('job', leased.job.id);
    const run = job?.lastRunId ? await this.#deps.store.run(job.lastRunId) : null;
    const message = error instanceof Error ? error.message : String(error);
    if (run?.status !== 'running') return leased.release(message);
    const end = { outcome: 'failed', failure: 'workspace', message, envelope: null, usage: run.usage } as const;
    await leased.execute({ type: 'run.finish', runId: run.id, ...end });
  }

  #whyStopped(): string {
    return this.#desired.is === 'stopped' ? `stopped by ${this.#desired.by.name}` : 'stopped';
  }

  async #wait(leased: LeasedTask, trouble: EnvironmentError): Promise<void> {
    const untilMs = await this.#prover.environment.report(trouble);
    await leased.must({ type: 'stage.wait', why: trouble.message.slice(0, 2000), untilMs });
  }

  /** Repository and disk errors are infrastructure failures: they are retried, then a person is asked. */
  async #reportFailure(leased: LeasedTask, message: string): Promise<void> {
    const now = await this.#deps.store.task(leased.task.id);
    const run = now?.lastRunId ? await this.#deps.store.run(now.lastRunId) : null;
    if (run?.status === 'running') {
      const end = { outcome: 'failed', failure: 'workspace', message, envelope: null, usage: run.usage } as const;
      await leased.execute({ type: 'run.finish', runId: run.id, ...end });
    } else {
      await leased.execute({ type: 'stage.wait', why: message, untilMs: 30_000, isPassing: true });
    }
  }
}
