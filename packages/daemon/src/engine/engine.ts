import { Mode, type Task } from '@tidemill/contract';
import { FOR_OTHERS } from '@tidemill/core';
import type { StageReport } from './agent-stage.ts';
import { claimNext } from './claiming.ts';
import type { EngineDeps } from './deps.ts';
import { Fleet } from './fleet.ts';
import { LandedWatch } from './landed.ts';
import { Occasions } from './occasions.ts';
import { Outages } from './outages.ts';
import { OutsideWork } from './outside.ts';
import { patientStore } from './patience.ts';
import { Prover } from './prove.ts';
import { QuestionTimes } from './questions.ts';
import { expireLeases, recover } from './recovery.ts';
import { Rests } from './rest.ts';
import type { Slot } from './slot.ts';
import { Spending } from './spending.ts';
import { Supervisor } from './supervisor.ts';

const SUPERVISE_EVERY_MS = 60_000;
const FOLLOWED = ['lease.released', 'task.moved', 'task.counters_reset', 'conflict.aborted'] as const;

/**
 *   commit ──wake──▶ dispatch: idle slots claim, highest stage first ──▶ slot.work ──▶ commit …
 * No polling: the engine sleeps until a commit, the end of a backoff, or the supervisor's minute.
 */
export class Engine {
  readonly #deps: EngineDeps;
  readonly fleet: Fleet;
  /** What workers that are no children of the daemon take and hand in. */
  readonly outside: OutsideWork;
  /** What is under way, by task. */
  readonly #working = new Map<string, Promise<unknown>>();
  readonly #rests: Rests;
  readonly #spending: Spending;
  /** The budget held something back at the last look. */
  #isShort = false;
  readonly #supervisor: Supervisor;
  readonly #outages: Outages;
  readonly #landed: LandedWatch;
  readonly #stopped = new AbortController();
  #dispatching: Promise<void> | null = null;
  #isDirty = false;
  #backoff = new AbortController();
  #offCommit: () => void = () => undefined;
  #loops: Promise<void>[] = [];

  constructor(given: EngineDeps) {
    const { signal } = this.#stopped;
    const onAway = (error: unknown, isBack: boolean) => this.#heedStore(error, isBack);
    const store = patientStore(given.store, given.clock, signal, onAway);
    // Not a copy: some of what is given changes with the settings.
    const deps: EngineDeps = Object.create(given, { store: { value: store } });
    this.#deps = deps;
    this.#landed = new LandedWatch(deps);
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
    this.#supervisor = new Supervisor(deps, () => this.fleet.slots);
  }

  async start(): Promise<void> {
    await this.fleet.register();
    await recover(this.#deps);
    this.#offCommit = this.#deps.store.onCommit((isQuiet) => {
      if (!isQuiet) this.wake();
    });
    const after = await this.#deps.store.lastSeq();
    const { signal } = this.#stopped;
    this.#loops = [
      this.#supervise(),
      this.#watchLeases(after),
      this.fleet.follow(after, signal),
      this.fleet.beat(signal),
      this.#spending.watch(after, signal),
      new QuestionTimes(this.#deps).run(after, signal),
      new Occasions(this.#deps).follow(after, signal),
    ];
    this.wake();
  }

  /** What is ready for an agent cannot be begun: every agent waits for a person, or nothing more is paid for. */
  get isWaitingForPerson(): boolean {
    return this.#isShort || this.#rests.isWaitingForPerson;
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
    await this.#dispatching;
    const grace = new AbortController();
    // What stands still reaches no checkpoint.
    for (const { held } of this.fleet.slots) if (held?.isFrozen) held.abandon('shutdown');
    const finished = Promise.all(this.#working.values()).finally(() => grace.abort());
    await Promise.race([finished, this.#deps.clock.sleep(graceMs, grace.signal)]);
    for (const slot of this.fleet.slots) slot.held?.abandon('shutdown');
    await finished;
    await this.outside.settled();
    await Promise.all(this.#loops);
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

  #labels(): Partial<Record<Mode, string>> {
    return Object.fromEntries(Mode.options.map((mode) => [mode, this.#deps.agentFor(mode).label]));
  }

  /** A task that was taken from another slot here waits until that slot has let go of the worktree. */
  #begin(slot: Slot, task: Task): void {
    const before = this.#working.get(task.id);
    const work = slot.work(task, before).then(async (report) => {
      if (this.#working.get(task.id) === work) this.#working.delete(task.id);
      if (report) await this.#note(slot, report);
      this.wake();
    });
    this.#working.set(task.id, work);
    // The emergency was called while the claim was on its way.
    if (this.fleet.isHalted) slot.held?.kill();
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
    const next = Math.min(nextNotBefore ?? Number.POSITIVE_INFINITY, paidAt ?? Number.POSITIVE_INFINITY);
    if (Number.isFinite(next)) void this.#wakeAfter(next - this.#deps.clock.now());
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

  async #supervise(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#lookAtLanded();
      await this.#deps.clock.sleep(SUPERVISE_EVERY_MS, signal);
      if (signal.aborted) return;
      await expireLeases(this.#deps).catch((error: unknown) =>
        this.#deps.onNote('looking for expired leases failed', error),
      );
      // A look that fails is left out; the next one comes in a minute.
      const isWaiting = await this.#supervisor.pass().catch((error: unknown) => {
        this.#deps.onNote('a health check failed', error);
        return true;
      });
      // Time alone may have made it claimable: a rest or a lock is over, or the clock was set.
      if (isWaiting) this.wake();
    }
  }

  /** At the start and every minute: somebody may have moved the target. */
  async #lookAtLanded(): Promise<void> {
    if (await this.#outages.look()) return;
    await this.#landed
      .look()
      .catch((error: unknown) => this.#deps.onNote('it could not be checked whether what landed is there', error));
  }

  /** A lease that ends by another's hand (cancelled, expired) stops the agent at once, not at the next heartbeat. */
  async #watchLeases(after: number): Promise<void> {
    const { store, project } = this.#deps;
    const filter = { projectId: project.id, types: [...FOLLOWED] };
    for await (const { body } of store.subscribe(after, filter, this.#stopped.signal)) {
      if (body.type === 'lease.released')
        this.fleet.slots
          .find(({ held }) => held?.task.id === body.taskId && held.token === body.token)
          ?.held?.abandon('lease lost');
      if (body.type === 'task.counters_reset') {
        this.#rests.clear();
        this.wake();
      }
      if (body.type === 'task.moved' && body.to === 'cancelled') await this.#tidy(body.taskId);
      if (body.type === 'conflict.aborted') await this.#removeOld(body.taskId, body.from);
    }
  }

  /** The task works on another branch from now on, so nobody can be in the old one's worktree. */
  async #removeOld(taskId: string, branch: string): Promise<void> {
    try {
      const task = await this.#deps.store.task(taskId);
      if (task && task.branch !== branch) await this.#deps.workspace.remove({ number: task.number, branch });
    } catch (error) {
      this.#deps.onNote('the worktree of an aborted conflict was not removed; the next start does it', error);
    }
  }

  /** A cancelled task's worktree goes (snapshotted), unless a slot still has to let go of it: then the slot removes it. */
  async #tidy(taskId: string): Promise<void> {
    if (this.fleet.slots.some(({ held }) => held?.task.id === taskId)) return;
    try {
      const task = await this.#deps.store.task(taskId);
      if (task?.stage === 'cancelled') await this.#deps.workspace.remove({ number: task.number, branch: task.branch });
    } catch (error) {
      this.#deps.onNote('the worktree of a cancelled task was not removed; the next start does it', error);
    }
  }
}
