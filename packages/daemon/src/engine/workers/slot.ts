import { type Actor, type DesiredState, ENGINE, type Job, type Role, type Task } from '@tidemill/contract';
import { stageOf } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { Rests } from '../dispatch/agent-rest.ts';
import type { Outages } from '../dispatch/outages.ts';
import { keep } from '../dispatch/recovery.ts';
import { setAside } from '../reactors/spending.ts';
import { agentStage, type StageReport } from '../stages/agent-stage.ts';
import { EnvironmentTrouble } from '../stages/environment.ts';
import { runJob } from '../stages/job-run.ts';
import type { Prover } from '../stages/prove.ts';
import { mergeStage, verifyStage } from '../stages/system-stage.ts';
import { LeasedJob, LeasedTask, type LeasedWork, Unwound } from './leased-work.ts';

/** What all slots of an engine share. */
export interface SlotTools {
  rests: Pick<Rests, 'hold'>;
  prover: Prover;
  outages: Outages;
}

/** Whose place it is. */
export type SlotWorker = Pick<Slot, 'workerId' | 'name' | 'role'>;

/** What a slot does with its work, and when that was cut short. */
interface HeldWork {
  do(): Promise<StageReport | null>;
  unwind(error: unknown): Promise<void>;
}

/** A worker's place: works on one task or job at a time, from claim to the end of its stage. */
export class Slot {
  workerId: string;
  readonly name: string;
  readonly role: Role;
  readonly #deps: EngineDeps;
  readonly #rests: SlotTools['rests'];
  readonly #prover: Prover;
  readonly #outages: Outages;
  leased: LeasedWork | null = null;
  /** Settles when the slot is free. */
  free: Promise<unknown> = Promise.resolve();
  #desired: { is: DesiredState; by: Actor } = { is: 'running', by: ENGINE };

  constructor(deps: EngineDeps, { rests, prover, outages }: SlotTools, worker: SlotWorker) {
    this.#deps = deps;
    this.#rests = rests;
    this.#prover = prover;
    this.#outages = outages;
    this.workerId = worker.workerId;
    this.name = worker.name;
    this.role = worker.role;
  }

  get mayClaim(): boolean {
    return this.leased === null && this.#desired.is === 'running';
  }

  /** Never rejects: what goes wrong ends on the task's record or in the log. Returns how an agent's stage ended. */
  work(task: Task, before?: Promise<unknown>): Promise<StageReport | null> {
    const leased = new LeasedTask(task, this.role, this.#deps.store, this.#deps.clock);
    return this.#hold(leased, {
      do: async () => {
        await before;
        return this.#stage(leased);
      },
      unwind: (error) => this.#unwind(leased, error),
    });
  }

  /** The same for a job. */
  workOnJob(job: Job): Promise<StageReport | null> {
    const leased = new LeasedJob(job, this.role, this.#deps.store, this.#deps.clock);
    return this.#hold(leased, {
      do: () => runJob(this.#deps, leased, (setback) => this.#rests.hold(setback)),
      unwind: (error) => this.#unwindJob(leased, error),
    });
  }

  /** What a person wants of it takes effect on the work in hand; claims are refused elsewhere. */
  obey(desired: DesiredState, by: Actor): void {
    this.#desired = { is: desired, by };
    if (!this.leased) return;
    if (desired === 'frozen') this.leased.control.freeze();
    else this.leased.thaw();
    if (desired === 'stopped') this.leased.abandon('stopped');
  }

  #hold(leased: LeasedWork, work: HeldWork): Promise<StageReport | null> {
    this.leased = leased;
    // It may have been changed between the claim and this line.
    this.obey(this.#desired.is, this.#desired.by);
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
        // The lease runs out by itself, and the work can be leased again.
        if (!(again instanceof Unwound)) this.#deps.onNote(`giving up ${leased.label} could not be recorded`, again);
      }
      return null;
    } finally {
      leased.end();
      this.leased = null;
    }
  }

  async #stage(leased: LeasedTask): Promise<StageReport | null> {
    const stage = stageOf(this.#deps.project.rules, leased.task);
    if (stage?.actor === 'agent')
      return agentStage(this.#deps, leased, stage, (setback) => this.#rests.hold(setback), this.#prover);
    if (stage?.actor !== 'system') throw new Error(`nobody works in stage ${leased.task.stage}`);
    const work = stage.does === 'verify' ? verifyStage : mergeStage;
    await work(this.#deps, leased, this.#prover);
    return null;
  }

  async #unwind(leased: LeasedTask, error: unknown): Promise<void> {
    const { task, ref } = leased;
    if (error instanceof Unwound && error.why === 'lease lost') {
      this.#deps.onNote(`${this.name} stopped working on #${task.number}: it was taken away`);
      const now = await this.#deps.store.task(task.id);
      if (now?.stage === 'cancelled' && !now.lease) await this.#deps.workspace.remove(ref);
      // Whoever has the task now waits for this slot before it opens the worktree.
      else await keep(this.#deps, task, 'taken away');
      return;
    }
    if (error instanceof Unwound && error.why === 'stopped') {
      await keep(this.#deps, task, this.#whyStopped());
      return leased.release(this.#whyStopped());
    }
    if (error instanceof Unwound && error.why === 'budget') return setAside(this.#deps, leased, error.message);
    if (error instanceof Unwound) return leased.release('Tidemill is shutting down');
    const outage = await this.#outages.look(true);
    // Nothing of it is the task's: it goes on where it was, without having been counted.
    if (outage) return leased.release(outage.text);
    if (error instanceof EnvironmentTrouble) return this.#wait(leased, error);
    this.#deps.onNote(`${this.name} failed on #${task.number}`, error);
    await this.#reportFailure(leased, error instanceof Error ? error.message : String(error));
  }

  /** A job has no worktree to keep, and no stage to wait in: it is given back, or its failed run is counted. */
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

  async #wait(leased: LeasedTask, trouble: EnvironmentTrouble): Promise<void> {
    const untilMs = await this.#prover.environment.report(trouble);
    await leased.must({ type: 'stage.wait', why: trouble.message.slice(0, 2000), untilMs });
  }

  /** Trouble with the repository or the disk is infrastructure: retried, then a person is asked. */
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
