import { Mode, type Task, type Worker } from '@tidemill/contract';
import { FOR_OTHERS } from '@tidemill/core';
import type { ReactorHandle, RoutedReactor } from '../ports.ts';
import { Deliveries } from './delivery/deliveries.ts';
import type { EngineDeps } from './deps.ts';
import { AgentBackoff } from './dispatch/agent-backoff.ts';
import { claimNext } from './dispatch/claim-next.ts';
import { type HeldStarts, NO_HOLDS, StartGuard } from './dispatch/held-starts.ts';
import { Outages } from './dispatch/outages.ts';
import { recover } from './dispatch/recovery.ts';
import { retryingStore } from './dispatch/retrying-store.ts';
import { IdeaFileKeeper } from './ideas/idea-files.ts';
import { IdeaQuestions } from './ideas/idea-questions.ts';
import { IdeaResearchers } from './ideas/idea-research.ts';
import { TargetSync } from './merge/target-sync.ts';
import { CatalogueTriggers } from './reactors/catalogue-triggers.ts';
import { ConflictForecast } from './reactors/conflict-forecast.ts';
import { ConflictRecovery } from './reactors/conflict-recovery.ts';
import { ConflictRetry } from './reactors/conflict-retry.ts';
import { EventRouter } from './reactors/event-router.ts';
import { guardReactors } from './reactors/guard-reactors.ts';
import { JobWatch } from './reactors/jobs.ts';
import { LandedWatch } from './reactors/landed.ts';
import { LandingWatch } from './reactors/landing-watch.ts';
import { LeaseWatch, leaseExpiry, supervision } from './reactors/leases.ts';
import { LessonDrafter } from './reactors/lesson-drafter.ts';
import { LessonUses } from './reactors/lessons.ts';
import { LoopReactor } from './reactors/loop.ts';
import { MemoryWatch } from './reactors/memory.ts';
import { OwnSessionWatch } from './reactors/own-sessions.ts';
import { PromotionWatch } from './reactors/promotions.ts';
import { PromptWatch } from './reactors/prompt-changes.ts';
import { PullWatch } from './reactors/pull-watch.ts';
import { QuestionTimes } from './reactors/question-times.ts';
import { ReflectionWatch } from './reactors/reflections.ts';
import { ReplayWatch } from './reactors/replays.ts';
import { SpecWatch } from './reactors/specs.ts';
import { Spending } from './reactors/spending.ts';
import { Supervisor } from './reactors/supervisor.ts';
import { TraceKeeper } from './reactors/traces.ts';
import { TripwireWatch } from './reactors/tripwire-watch.ts';
import { WorktreeCleanup } from './reactors/worktrees.ts';
import type { StageReport } from './stages/agent-stage.ts';
import { Prover } from './stages/prove.ts';
import { UsualTimes } from './stages/usual-times.ts';
import { EngineTracker } from './tracker/tracker-work.ts';
import { addBuilder, removeBuilder } from './workers/builders.ts';
import { Fleet } from './workers/fleet.ts';
import { OutsideWork } from './workers/outside.ts';
import type { Slot } from './workers/slot.ts';

/**
 *   commit ──wake──▶ dispatch: idle slots claim, highest stage first ──▶ slot.work ──▶ commit …
 * No polling: the engine sleeps until a commit, the end of a backoff, or the supervisor's minute.
 */
export class Engine {
  readonly #deps: EngineDeps;
  readonly fleet: Fleet;
  /** Claims and results of workers outside the daemon. */
  readonly outside: OutsideWork;
  /** The tracker of the project, if it has one. */
  readonly tracker: EngineTracker;
  /** Work in progress, by the id of its task or job. */
  readonly #working = new Map<string, Promise<unknown>>();
  readonly #agentBackoff: AgentBackoff;
  readonly #spending: Spending;
  /** The budget refused a claim in the last dispatch. */
  #isOverBudget = false;
  readonly #outages: Outages;
  readonly #prover: Prover;
  readonly #starts: StartGuard;
  readonly #jobs: JobWatch;
  readonly #target: TargetSync;
  readonly #deliveries: Deliveries;
  readonly #pulls: PullWatch;
  readonly #stopped = new AbortController();
  #dispatching: Promise<void> | null = null;
  #isDirty = false;
  #backoff = new AbortController();
  #offCommit: () => void = () => undefined;
  #reactors: ReactorHandle[] = [];
  #lookAtPulls: (() => void) | null = null;
  #ownSessions: OwnSessionWatch | null = null;

  constructor(given: EngineDeps) {
    const { signal } = this.#stopped;
    const onAvailability = (error: unknown, isBack: boolean) => this.#onStoreState(error, isBack);
    const store = retryingStore(given.store, given.clock, signal, onAvailability);
    // Not a copy: some of these values change with the settings.
    const deps: EngineDeps = Object.create(given, { store: { value: store } });
    this.#deps = deps;
    this.#outages = new Outages(deps, signal, () => {
      this.wake();
      this.#deliveries.outageEnded();
    });
    this.#agentBackoff = new AgentBackoff(deps, (waitMs) => this.#wakeAfterBackoff(waitMs));
    const prover = new Prover(deps, signal);
    this.#prover = prover;
    const outages = this.#outages;
    this.#target = new TargetSync(deps, prover.baseline);
    const usual = new UsualTimes(deps);
    this.tracker = new EngineTracker(deps);
    const claimOutside = (task: Task) => this.tracker.claim(task);
    const tools = { claimOutside, agentBackoff: this.#agentBackoff, prover, usual, target: this.#target, outages };
    this.fleet = new Fleet(deps, tools, () => this.wake());
    this.#starts = new StartGuard(deps, {
      baseline: prover.baseline,
      environment: prover.environment,
      builders: () => this.fleet.slots.filter(({ role }) => role === 'builder').length,
      wake: () => this.wake(),
      stopped: signal,
    });
    this.outside = new OutsideWork(deps, {
      // It does not wait for gates that run: nobody is paid here for what it does meanwhile.
      holds: async () => {
        const held = await this.#starts.look();
        return held.isChecking ? NO_HOLDS : held;
      },
      mayBegin: () => !this.#stopped.signal.aborted && !this.fleet.isHalted,
      // A task that was taken from a slot waits until the slot has released the worktree.
      released: async (taskId) => void (await this.#working.get(taskId)),
    });
    this.#spending = new Spending(deps, () => this.fleet.slots);
    this.#pulls = new PullWatch(deps);
    this.#jobs = new JobWatch(deps, () => this.wake());
    this.#deliveries = new Deliveries(deps, prover.baseline, async () => (await outages.look()) !== null);
  }

  async start(): Promise<void> {
    await this.fleet.register();
    await recover(this.#deps);
    await this.#agentBackoff.restore();
    await this.#jobs.look();
    this.#offCommit = this.#deps.store.onCommit((isQuiet) => {
      if (isQuiet) return;
      this.wake();
      this.#deliveries.wake();
    });
    const after = await this.#deps.store.lastSeq();
    const followers = this.#followers();
    this.#reactors = followers.map((reactor) => this.#deps.reactors.add(reactor, after));
    this.tracker.running(this.#reactors, followers);
    const pulls = this.#reactors[followers.indexOf(this.#pulls)];
    this.#lookAtPulls = () => pulls?.wake();
    this.#starts.begin();
    this.wake();
  }

  /** The settings have changed. */
  settingsChanged(): void {
    this.#starts.settingsChanged();
    this.tracker.wake();
    this.wake();
  }

  /** All reactors of this project. */
  #followers(): RoutedReactor[] {
    const deps = this.#deps;
    const { knowledge, ownSessions } = deps;
    const { fleet } = this;
    const known = { restingModes: () => this.#agentBackoff.modes(), isOverBudget: () => this.#isOverBudget };
    const supervisor = new Supervisor(deps, {
      ...known,
      slots: () => fleet.slots,
      lookAtTarget: () => this.#prover.baseline.lookAgain(),
    });
    this.#ownSessions = knowledge && ownSessions ? new OwnSessionWatch(deps, knowledge, ownSessions) : null;
    const isTesting = () => fleet.slots.some(({ leased }) => leased?.isTesting === true);
    const tryAgain = () => {
      this.#agentBackoff.clear();
      this.wake();
    };
    return [
      ...fleet.reactors(),
      new LeaseWatch(deps, fleet, tryAgain),
      leaseExpiry(deps),
      supervision(deps, supervisor, () => this.wake()),
      new TripwireWatch(deps, this.#prover.tripwires, isTesting, this.#stopped.signal),
      new WorktreeCleanup(deps, fleet),
      new ConflictRetry(deps),
      ...(deps.conflicts ? [new ConflictRecovery(deps, deps.conflicts)] : []),
      this.#spending,
      this.#jobs,
      new EventRouter(deps),
      new QuestionTimes(deps),
      new LessonUses(deps),
      new LessonDrafter(deps),
      new MemoryWatch(deps),
      ...(deps.catalogue ? [new CatalogueTriggers(deps), new IdeaQuestions(deps)] : []),
      ...(deps.ideation ? [new IdeaResearchers(deps), new IdeaFileKeeper(deps)] : []),
      new SpecWatch(deps),
      new ReplayWatch(deps),
      this.#deliveries,
      new ReflectionWatch(deps),
      new PromotionWatch(deps),
      ...(deps.promptFiles ? [new PromptWatch(deps, deps.promptFiles)] : []),
      ...(deps.improvements ? [new LoopReactor(deps, known)] : []),
      ...(this.#ownSessions ? [this.#ownSessions] : []),
      ...guardReactors(deps),
      ...this.tracker.reactors(),
      new ConflictForecast(deps, async () => (await this.#outages.look()) !== null),
      new TraceKeeper(deps, async () => (await this.#outages.look()) !== null),
      new LandingWatch(deps),
      this.#pulls,
      new LandedWatch(deps, async () => (await this.#outages.look()) !== null),
      this.#outages,
      this.#target,
    ];
  }

  /** No agent can start: each one needs help from a person, or the budget is exhausted. */
  get isWaitingForPerson(): boolean {
    return this.#isOverBudget || this.#agentBackoff.isWaitingForPerson;
  }

  /** What keeps tasks from starting. */
  holds(): Promise<HeldStarts> {
    return this.#starts.look();
  }

  /** Landed work is about to be pushed. */
  get isPushing(): boolean {
    return this.#target.isPushing;
  }

  /** Landed work is being delivered, or about to be. */
  get isDelivering(): boolean {
    return this.#deliveries.isActive;
  }

  /** Whether the reactors have handled the log: the next work may come from them. */
  hasCaughtUp(): Promise<boolean> {
    return this.#deps.reactors.hasCaughtUp(this.#deps.project.id);
  }

  /** There is news on GitHub: it is asked now, not at the next poll. */
  lookOutside(): void {
    this.#pulls.lookSoon();
    this.#lookAtPulls?.();
    this.tracker.wake();
  }

  addWorker(): Promise<string> {
    return addBuilder(this.#deps);
  }

  removeWorker(worker: Worker): Promise<void> {
    return removeBuilder(this.#deps, worker);
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
    this.tracker.stop();
    this.#offCommit();
    this.#endBackoff();
    const reactorsStopped = Promise.all(this.#reactors.map((reactor) => reactor.stop()));
    await this.#dispatching;
    const grace = new AbortController();
    // Frozen work reaches no checkpoint.
    for (const { leased } of this.fleet.slots) if (leased?.isFrozen) leased.abandon('shutdown');
    const finished = Promise.all([...this.#working.values(), this.#deliveries.settled()]).finally(() => grace.abort());
    await Promise.race([finished, this.#deps.clock.sleep(graceMs, grace.signal)]);
    for (const slot of this.fleet.slots) slot.leased?.abandon('shutdown');
    await this.#deliveries.stop();
    await finished;
    await this.outside.settled();
    await this.#starts.settled();
    await reactorsStopped;
    // A session that starts while no daemon runs is told the last state.
    await this.#ownSessions
      ?.handle()
      .catch((error: unknown) =>
        this.#deps.onNote('what own sessions are told could not be brought up to date', error),
      );
    await this.fleet
      .close()
      .catch((error: unknown) => this.#deps.onNote('the session files could not be brought up to date', error));
  }

  async #dispatch(): Promise<void> {
    this.#isDirty = false;
    try {
      // The end of the outage wakes the engine.
      if (await this.#outages.look()) return;
      const exhausted = new Set<string>();
      let isOverBudget = false;
      for (const slot of this.fleet.slots) {
        if (!slot.mayClaim || this.fleet.isHalted || this.#stopped.signal.aborted) continue;
        if (!exhausted.has(slot.role)) {
          // A person may wait for a job, so it comes before tasks.
          const job = await this.#claimJob(slot);
          isOverBudget ||= job === 'budget_exhausted';
          if (job === 'claimed') continue;
          const claimed = await this.#claim(slot);
          if ('task' in claimed) {
            this.#begin(slot, claimed.task);
            continue;
          }
          isOverBudget ||= claimed.isOverBudget;
          if (!claimed.isForOthers) exhausted.add(slot.role);
        }
        // There is nothing else to do. Work in the background never delays a task that is ready.
        await this.#claimJob(slot, true);
      }
      // Set at the end, so that readers meanwhile see the result of the previous dispatch.
      this.#isOverBudget = isOverBudget;
      await this.#sleepUntilNext();
    } catch (error) {
      this.#deps.onNote('claiming failed; trying again in 5 s', error);
      void this.#wakeAfter(5_000);
    }
  }

  async #claim(slot: Slot): Promise<{ task: Task } | { isForOthers: boolean; isOverBudget: boolean }> {
    const { project, owner, store } = this.#deps;
    const { workerId, role } = slot;
    const who = { type: 'work.claim', projectId: project.id, workerId, role, owner } as const;
    const agents = this.#labels();
    const isPaid = role === 'builder' || role === 'reviewer';
    const holds = isPaid ? await this.#starts.look() : undefined;
    const reply = await claimNext(store, role, (window) => ({
      ...who,
      window,
      restingModes: this.#agentBackoff.modes(),
      agents,
      ...(holds ? { holds } : {}),
    }));
    if (reply.ok) return reply.task ? { task: reply.task } : { isForOthers: true, isOverBudget: false };
    const { code, hint } = reply.refusal;
    const isForOthers = code !== 'window_exhausted' && (hint === FOR_OTHERS || code === 'worker_paused');
    return { isForOthers, isOverBudget: code === 'budget_exhausted' };
  }

  /** Claims a job for the slot if one is due. */
  async #claimJob(slot: Slot, isBackground = false): Promise<'claimed' | 'budget_exhausted' | 'none'> {
    const { project, owner, store, clock } = this.#deps;
    const { dueAt } = this.#jobs;
    if (dueAt === null || dueAt > clock.now() || slot.role === 'verifier' || slot.role === 'merger') return 'none';
    const reply = await store.execute({
      type: 'job.claim',
      projectId: project.id,
      workerId: slot.workerId,
      owner,
      restingModes: this.#agentBackoff.modes(),
      agents: this.#labels(),
      ...(isBackground ? { isBackground } : {}),
    });
    const claimed = reply.ok ? reply.events.find(({ body }) => body.type === 'lease.claimed')?.body : undefined;
    const job = claimed?.type === 'lease.claimed' ? await store.record('job', claimed.jobId ?? '') : null;
    if (!job) return !reply.ok && reply.refusal.code === 'budget_exhausted' ? 'budget_exhausted' : 'none';
    this.#follow(job.id, slot, slot.workOnJob(job));
    return 'claimed';
  }

  #labels(): Partial<Record<Mode, string>> {
    return Object.fromEntries(Mode.options.map((mode) => [mode, this.#deps.agentFor(mode).label]));
  }

  /** A task that was taken from another slot waits until that slot has released the worktree. */
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
    // The emergency stop came during the claim.
    if (this.fleet.isHalted) slot.leased?.kill();
  }

  #onStoreState(error: unknown, isBack: boolean): void {
    this.#deps.onNote(
      isBack ? 'the store is available again' : 'the store is unavailable; work waits for it',
      error ?? undefined,
    );
    if (!isBack) void this.#outages.look(true);
  }

  #wakeAfterBackoff(waitMs: number): void {
    void this.#deps.clock.sleep(waitMs, this.#stopped.signal).then(() => this.wake());
  }

  async #note(slot: Slot, report: StageReport): Promise<void> {
    try {
      await this.fleet.note(slot, report);
      await this.#agentBackoff.alert(report.mode, report.setback);
    } catch (error) {
      this.#deps.onNote('an alert about an agent could not be recorded', error);
    }
  }

  /** When backoff or budget blocks all work, wakes the engine when the first item becomes claimable. */
  async #sleepUntilNext(): Promise<void> {
    const nextNotBefore = await this.#deps.store.nextNotBefore(this.#deps.project.id);
    const paidAt = this.#isOverBudget ? await this.#spending.resumeAt() : null;
    const times = [nextNotBefore, paidAt, this.#jobs.dueAt].filter((at) => at !== null);
    const now = this.#deps.clock.now();
    const next = Math.min(...times.filter((at) => at > now));
    if (Number.isFinite(next)) void this.#wakeAfter(next - now);
  }

  /** Runs on every commit. The string reason avoids creating an error object. */
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
