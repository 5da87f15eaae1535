import { Mode, type Task, type Worker } from '@tidemill/contract';
import { FOR_OTHERS } from '@tidemill/core';
import type { Reactor, ReactorHandle } from '../ports.ts';
import type { EngineDeps } from './deps.ts';
import { Rests } from './dispatch/agent-rest.ts';
import { claimNext } from './dispatch/claim-next.ts';
import { Outages } from './dispatch/outages.ts';
import { patientStore } from './dispatch/patient-store.ts';
import { recover } from './dispatch/recovery.ts';
import { JobWatch } from './reactors/jobs.ts';
import { LandedWatch } from './reactors/landed.ts';
import { LeaseWatch, leaseExpiry, supervision } from './reactors/leases.ts';
import { Occasions } from './reactors/occasions.ts';
import { QuestionTimes } from './reactors/question-times.ts';
import { ConflictSettling } from './reactors/settling.ts';
import { Spending } from './reactors/spending.ts';
import { Supervisor } from './reactors/supervisor.ts';
import { WorktreeCleanup } from './reactors/worktrees.ts';
import type { StageReport } from './stages/agent-stage.ts';
import { Prover } from './stages/prove.ts';
import { Fleet } from './workers/fleet.ts';
import { dismissBuilder, hireBuilder } from './workers/hiring.ts';
import { OutsideWork } from './workers/outside.ts';
import type { Slot } from './workers/slot.ts';

/**
 *   commit ──wake──▶ dispatch: idle slots claim, highest stage first ──▶ slot.work ──▶ commit …
 * No polling: the engine sleeps until a commit, the end of a backoff, or the supervisor's minute.
 */
export class Engine {
  readonly #deps: EngineDeps;
  readonly fleet: Fleet;
  /** What workers that are no children of the daemon take and hand in. */
  readonly outside: OutsideWork;
  /** What is under way, by the id of its task or job. */
  readonly #working = new Map<string, Promise<unknown>>();
  readonly #rests: Rests;
  readonly #spending: Spending;
  /** The budget held something back at the last look. */
  #isShort = false;
  readonly #outages: Outages;
  readonly #jobs: JobWatch;
  readonly #stopped = new AbortController();
  #dispatching: Promise<void> | null = null;
  #isDirty = false;
  #backoff = new AbortController();
  #offCommit: () => void = () => undefined;
  #reactors: ReactorHandle[] = [];

  constructor(given: EngineDeps) {
    const { signal } = this.#stopped;
    const onAway = (error: unknown, isBack: boolean) => this.#heedStore(error, isBack);
    const store = patientStore(given.store, given.clock, signal, onAway);
    // Not a copy: some of what is given changes with the settings.
    const deps: EngineDeps = Object.create(given, { store: { value: store } });
    this.#deps = deps;
    this.#outages = new Outages(deps, signal, () => this.wake());
    this.#rests = new Rests(deps, (restMs) => this.#wakeAfterRest(restMs));
    const prover = new Prover(deps);
    const outages = this.#outages;
    this.fleet = new Fleet(deps, { rests: this.#rests, prover, outages }, () => this.wake());
    this.outside = new OutsideWork(deps, {
      mayBegin: () => !this.#stopped.signal.aborted && !this.fleet.isHalted,
      // A task that was taken from a slot waits until that slot has let go of the worktree.
      letGo: async (taskId) => void (await this.#working.get(taskId)),
    });
    this.#spending = new Spending(deps, () => this.fleet.slots);
    this.#jobs = new JobWatch(deps, () => this.wake());
  }

  async start(): Promise<void> {
    await this.fleet.register();
    await recover(this.#deps);
    await this.#jobs.look();
    this.#offCommit = this.#deps.store.onCommit((isQuiet) => {
      if (!isQuiet) this.wake();
    });
    const after = await this.#deps.store.lastSeq();
    this.#reactors = this.#followers().map((reactor) => this.#deps.reactors.add(reactor, after));
    this.wake();
  }

  /** All that follows the log or the clock for this project. */
  #followers(): Reactor[] {
    const deps = this.#deps;
    const { fleet } = this;
    const supervisor = new Supervisor(deps, () => fleet.slots);
    const tryAgain = () => {
      this.#rests.clear();
      this.wake();
    };
    return [
      ...fleet.reactors(),
      new LeaseWatch(deps, fleet, tryAgain),
      leaseExpiry(deps),
      supervision(deps, supervisor, () => this.wake()),
      new WorktreeCleanup(deps, fleet),
      ...(deps.conflicts ? [new ConflictSettling(deps, deps.conflicts)] : []),
      this.#spending,
      this.#jobs,
      new QuestionTimes(deps),
      ...(deps.catalogue ? [new Occasions(deps)] : []),
      new LandedWatch(deps, async () => (await this.#outages.look()) !== null),
      this.#outages,
    ];
  }

  /** What is ready for an agent cannot be begun: every agent waits for a person, or nothing more is paid for. */
  get isWaitingForPerson(): boolean {
    return this.#isShort || this.#rests.isWaitingForPerson;
  }

  addWorker(): Promise<string> {
    return hireBuilder(this.#deps);
  }

  removeWorker(worker: Worker): Promise<void> {
    return dismissBuilder(this.#deps, worker);
  }

  wake(): void {
    this.#isDirty = true;
    this.#endBackoff();
    if (this.#stopped.signal.aborted) return;
    this.#dispatching ??= this.#dispatch().finally(() => {
      this.#dispatching = null;
      if (this.#isDirty) this.wake();
    });
  }

  /** Stops claiming, lets each step reach its checkpoint for `graceMs`, then stops the agents. Work is kept. */
  async stop({ graceMs }: { graceMs: number }): Promise<void> {
    this.#stopped.abort();
    this.#offCommit();
    this.#endBackoff();
    const reactorsStopped = Promise.all(this.#reactors.map((reactor) => reactor.stop()));
    await this.#dispatching;
    const grace = new AbortController();
    // What stands still reaches no checkpoint.
    for (const { leased } of this.fleet.slots) if (leased?.isFrozen) leased.abandon('shutdown');
    const finished = Promise.all(this.#working.values()).finally(() => grace.abort());
    await Promise.race([finished, this.#deps.clock.sleep(graceMs, grace.signal)]);
    for (const slot of this.fleet.slots) slot.leased?.abandon('shutdown');
    await finished;
    await this.outside.settled();
    await reactorsStopped;
    await this.fleet
      .close()
      .catch((error: unknown) => this.#deps.onNote('the session files could not be brought up to date', error));
  }

  async #dispatch(): Promise<void> {
    this.#isDirty = false;
    try {
      // Whoever is back from an outage wakes us.
      if (await this.#outages.look()) return;
      const exhausted = new Set<string>();
      let isShort = false;
      for (const slot of this.fleet.slots) {
        if (!slot.mayClaim || this.fleet.isHalted || exhausted.has(slot.role) || this.#stopped.signal.aborted) continue;
        // A person may wait for a job, so it comes before tasks.
        if (await this.#claimJob(slot)) continue;
        const claimed = await this.#claim(slot);
        if ('task' in claimed) this.#begin(slot, claimed.task);
        else {
          isShort ||= claimed.isShort;
          if (!claimed.isForOthers) exhausted.add(slot.role);
        }
      }
      // Only now: whoever asks meanwhile gets the answer of the last look.
      this.#isShort = isShort;
      await this.#sleepUntilNext();
    } catch (error) {
      this.#deps.onNote('claiming failed; trying again in 5 s', error);
      void this.#wakeAfter(5_000);
    }
  }

  async #claim(slot: Slot): Promise<{ task: Task } | { isForOthers: boolean; isShort: boolean }> {
    const { project, owner, store } = this.#deps;
    const { workerId, role } = slot;
    const who = { type: 'work.claim', projectId: project.id, workerId, role, owner } as const;
    const agents = this.#labels();
    const reply = await claimNext(store, (window) => ({ ...who, window, restingModes: this.#rests.modes(), agents }));
    if (reply.ok) return reply.task ? { task: reply.task } : { isForOthers: true, isShort: false };
    const { code, hint } = reply.refusal;
    const isForOthers = code !== 'window_exhausted' && (hint === FOR_OTHERS || code === 'worker_paused');
    return { isForOthers, isShort: code === 'budget_exhausted' };
  }

  /** Gives the slot a job, if one is due. */
  async #claimJob(slot: Slot): Promise<boolean> {
    const { project, owner, store, clock } = this.#deps;
    const { dueAt } = this.#jobs;
    if (dueAt === null || dueAt > clock.now() || slot.role === 'verifier' || slot.role === 'merger') return false;
    const reply = await store.execute({
      type: 'job.claim',
      projectId: project.id,
      workerId: slot.workerId,
      owner,
      restingModes: this.#rests.modes(),
      agents: this.#labels(),
    });
    const claimed = reply.ok ? reply.events.find(({ body }) => body.type === 'lease.claimed')?.body : undefined;
    const job = claimed?.type === 'lease.claimed' ? await store.record('job', claimed.jobId ?? '') : null;
    if (!job) return false;
    this.#follow(job.id, slot, slot.workOnJob(job));
    return true;
  }

  #labels(): Partial<Record<Mode, string>> {
    return Object.fromEntries(Mode.options.map((mode) => [mode, this.#deps.agentFor(mode).label]));
  }

  /** A task that was taken from another slot here waits until that slot has let go of the worktree. */
  #begin(slot: Slot, task: Task): void {
    this.#follow(task.id, slot, slot.work(task, this.#working.get(task.id)));
  }

  #follow(workId: string, slot: Slot, working: Promise<StageReport | null>): void {
    const work = working.then(async (report) => {
      if (this.#working.get(workId) === work) this.#working.delete(workId);
      if (report) await this.#note(slot, report);
      this.wake();
    });
    this.#working.set(workId, work);
    // The emergency was called while the claim was on its way.
    if (this.fleet.isHalted) slot.leased?.kill();
  }

  #heedStore(error: unknown, isBack: boolean): void {
    this.#deps.onNote(
      isBack ? 'the store answers again' : 'the store does not answer; work waits for it',
      error ?? undefined,
    );
    if (!isBack) void this.#outages.look(true);
  }

  #wakeAfterRest(restMs: number): void {
    void this.#deps.clock.sleep(restMs, this.#stopped.signal).then(() => this.wake());
  }

  async #note(slot: Slot, report: StageReport): Promise<void> {
    try {
      await this.fleet.note(slot, report);
      await this.#rests.tell(report.mode, report.setback);
    } catch (error) {
      this.#deps.onNote('a notice about an agent could not be recorded', error);
    }
  }

  /** When all claimable work is in its backoff, or not paid for, wake when the first comes out of it. */
  async #sleepUntilNext(): Promise<void> {
    const nextNotBefore = await this.#deps.store.nextNotBefore(this.#deps.project.id);
    const paidAt = this.#isShort ? await this.#spending.resumeAt() : null;
    const times = [nextNotBefore, paidAt, this.#jobs.dueAt].filter((at) => at !== null);
    const now = this.#deps.clock.now();
    const next = Math.min(...times.filter((at) => at > now));
    if (Number.isFinite(next)) void this.#wakeAfter(next - now);
  }

  /** With every commit, so without the cost of an error that nobody reads. */
  #endBackoff(): void {
    if (!this.#backoff.signal.aborted) this.#backoff.abort('woken');
  }

  async #wakeAfter(ms: number): Promise<void> {
    this.#endBackoff();
    this.#backoff = new AbortController();
    const { signal } = this.#backoff;
    await this.#deps.clock.sleep(Math.max(ms, 1), signal);
    if (!signal.aborted) this.wake();
  }
}
