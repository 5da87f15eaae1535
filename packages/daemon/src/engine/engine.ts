import type { Task } from '@tidemill/contract';
import type { StageReport } from './agent-stage.ts';
import type { EngineDeps } from './deps.ts';
import { expireLeases, recover } from './recovery.ts';
import { Rests } from './rest.ts';
import { Slot } from './slot.ts';

const SUPERVISE_EVERY_MS = 60_000;
/** Candidates looked at per claim; more only when all of the first are held back by file scopes. */
const WINDOWS = [2, 64, 2048];

/**
 *   commit ──wake──▶ dispatch: idle slots claim, highest stage first ──▶ slot.work ──▶ commit …
 * No polling: the engine sleeps until a commit, the end of a backoff, or the supervisor's minute.
 */
export class Engine {
  readonly #deps: EngineDeps;
  readonly #slots: Slot[];
  /** What is under way, by task. */
  readonly #working = new Map<string, Promise<unknown>>();
  readonly #rests: Rests;
  readonly #stopped = new AbortController();
  #dispatching: Promise<void> | null = null;
  #isDirty = false;
  #backoff = new AbortController();
  #offCommit: () => void = () => undefined;
  #loops: Promise<void>[] = [];

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#rests = new Rests(deps, (restMs) => this.#wakeAfterRest(restMs));
    const builders = Array.from(
      { length: deps.workers },
      (_, index) => new Slot(deps, this.#rests, `agent-${index + 1}`, 'builder'),
    );
    // Finishing comes before starting: the queue drains from its end.
    this.#slots = [
      new Slot(deps, this.#rests, 'merger', 'merger'),
      new Slot(deps, this.#rests, 'verifier', 'verifier'),
      new Slot(deps, this.#rests, 'review-agent', 'reviewer'),
      ...builders,
    ];
  }

  async start(): Promise<void> {
    await this.#registerWorkers();
    await recover(this.#deps);
    this.#offCommit = this.#deps.store.onCommit(() => this.wake());
    const after = await this.#deps.store.lastSeq();
    this.#loops = [this.#supervise(), this.#watchLeases(after)];
    this.wake();
  }

  wake(): void {
    this.#isDirty = true;
    this.#backoff.abort();
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
    this.#backoff.abort();
    await this.#dispatching;
    const grace = new AbortController();
    const finished = Promise.all(this.#working.values()).finally(() => grace.abort());
    await Promise.race([finished, this.#deps.clock.sleep(graceMs, grace.signal)]);
    for (const slot of this.#slots) slot.held?.abandon('shutdown');
    await finished;
    await Promise.all(this.#loops);
  }

  async #registerWorkers(): Promise<void> {
    const { store, project } = this.#deps;
    const wanted = new Set(this.#slots.map((slot) => slot.workerId));
    for (const worker of await store.workers(project.id)) {
      if (!wanted.has(worker.id))
        await store.execute({ type: 'worker.remove', projectId: project.id, workerId: worker.id });
    }
    for (const { workerId, name, role } of this.#slots)
      await store.execute({ type: 'worker.register', projectId: project.id, workerId, name, role });
  }

  async #dispatch(): Promise<void> {
    this.#isDirty = false;
    try {
      const exhausted = new Set<string>();
      for (const slot of this.#slots) {
        if (slot.held || exhausted.has(slot.role) || this.#stopped.signal.aborted) continue;
        const task = await this.#claim(slot);
        if (task) this.#begin(slot, task);
        else exhausted.add(slot.role);
      }
      await this.#sleepUntilNext();
    } catch (error) {
      this.#deps.onNote('claiming failed; trying again in 5 s', error);
      void this.#wakeAfter(5_000);
    }
  }

  async #claim(slot: Slot): Promise<Task | null> {
    const { project, owner, store } = this.#deps;
    const { workerId, role } = slot;
    for (const window of WINDOWS) {
      // Asked anew for each claim: an agent may have begun to rest while the one before was decided.
      const restingModes = this.#rests.modes();
      const claim = { type: 'work.claim', projectId: project.id, workerId, role, owner, window, restingModes } as const;
      const reply = await store.execute(claim);
      if (reply.ok) return reply.task;
      if (reply.refusal.code !== 'window_exhausted') return null;
    }
    return null;
  }

  /** A task that was taken from another slot here waits until that slot has let go of the worktree. */
  #begin(slot: Slot, task: Task): void {
    const before = this.#working.get(task.id);
    const work = slot.work(task, before).then(async (report) => {
      if (this.#working.get(task.id) === work) this.#working.delete(task.id);
      if (report) await this.#tellOfRest(report);
      this.wake();
    });
    this.#working.set(task.id, work);
  }

  #wakeAfterRest(restMs: number): void {
    void this.#deps.clock.sleep(restMs, this.#stopped.signal).then(() => this.wake());
  }

  async #tellOfRest({ mode, setback }: StageReport): Promise<void> {
    try {
      await this.#rests.tell(mode, setback);
    } catch (error) {
      this.#deps.onNote('a notice about an agent could not be recorded', error);
    }
  }

  /** When the only claimable work is in its backoff, wake when the first comes out of it. */
  async #sleepUntilNext(): Promise<void> {
    const nextNotBefore = await this.#deps.store.nextNotBefore(this.#deps.project.id);
    if (nextNotBefore !== null) void this.#wakeAfter(nextNotBefore - this.#deps.clock.now());
  }

  async #wakeAfter(ms: number): Promise<void> {
    this.#backoff.abort();
    this.#backoff = new AbortController();
    const { signal } = this.#backoff;
    await this.#deps.clock.sleep(Math.max(ms, 1), signal);
    if (!signal.aborted) this.wake();
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#deps.clock.sleep(SUPERVISE_EVERY_MS, signal);
      if (signal.aborted) return;
      await expireLeases(this.#deps).catch((error: unknown) =>
        this.#deps.onNote('looking for expired leases failed', error),
      );
    }
  }

  /** A lease that ends by another's hand (cancelled, expired) stops the agent at once, not at the next heartbeat. */
  async #watchLeases(after: number): Promise<void> {
    const { store, project } = this.#deps;
    const filter = { projectId: project.id, types: ['lease.released', 'task.moved', 'task.counters_reset'] };
    for await (const { body } of store.subscribe(after, filter, this.#stopped.signal)) {
      if (body.type === 'lease.released')
        this.#slots
          .find(({ held }) => held?.task.id === body.taskId && held.token === body.token)
          ?.held?.abandon('lease lost');
      if (body.type === 'task.counters_reset') {
        this.#rests.clear();
        this.wake();
      }
      if (body.type === 'task.moved' && body.to === 'cancelled') await this.#tidy(body.taskId);
    }
  }

  /** A cancelled task's worktree goes (snapshotted), unless a slot still has to let go of it: then the slot removes it. */
  async #tidy(taskId: string): Promise<void> {
    if (this.#slots.some(({ held }) => held?.task.id === taskId)) return;
    try {
      const task = await this.#deps.store.task(taskId);
      if (task?.stage === 'cancelled') await this.#deps.workspace.remove({ number: task.number, branch: task.branch });
    } catch (error) {
      this.#deps.onNote('the worktree of a cancelled task was not removed; the next start does it', error);
    }
  }
}
