import type { Role, Task } from '@tidemill/contract';
import { type Command, type CommandOf, type CommandType, HEARTBEAT_MS, type Reply } from '@tidemill/core';
import type { Clock, Store, WorktreeRef } from '../../ports.ts';
import { WorkControl } from './work-control.ts';

/** Why work on a task ended before its stage did. Thrown to unwind; caught by the slot, nowhere else. */
export class Unwound extends Error {
  readonly why: 'lease lost' | 'shutdown' | 'stopped' | 'budget';
  constructor(why: Unwound['why'], text: string = why) {
    super(text);
    this.why = why;
  }
}

type Fenced = 'projectId' | 'taskId' | 'token';
type FencedType = Extract<
  CommandType,
  `run.${string}` | `stage.${string}` | `merge.${string}` | 'work.commit' | 'evidence.record' | 'guard.deny'
>;
// Distributes over the union, so that each command keeps its own fields.
type WithoutFence<C> = C extends unknown ? Omit<C, Fenced> : never;

/** A task in a worker's hands: its lease kept alive, its writes fenced, its end known by `signal`. */
export class LeasedWork {
  readonly task: Task;
  readonly token: number;
  readonly role: Role;
  readonly ref: WorktreeRef;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  #ended = new AbortController();
  /** When the work was last heard of, for the supervisor. */
  lastSignAt: number;
  /** Gates run: silence is normal. */
  isTesting = false;
  readonly control: WorkControl;
  /** Trees on which gates failed in this run. */
  readonly sentBack = new Set<string>();

  constructor(task: Task, role: Role, store: Store, clock: Clock) {
    this.task = task;
    this.token = task.lease!.token;
    this.role = role;
    this.ref = { number: task.number, branch: task.branch };
    this.#store = store;
    this.#clock = clock;
    this.control = new WorkControl(clock);
    this.lastSignAt = clock.now();
  }

  /** Aborts when the work must stop: the lease is gone, or Tidemill shuts down. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Something was heard of the work. */
  sign(): void {
    this.lastSignAt = this.#clock.now();
  }

  /** A person froze it: silence is what they wanted. */
  get isFrozen(): boolean {
    return this.control.isFrozen;
  }

  thaw(): void {
    if (!this.isFrozen) return;
    this.control.thaw();
    // The silence was wanted: nobody is stuck for it.
    this.sign();
  }

  abandon(why: Unwound['why'], text?: string): void {
    if (this.signal.aborted) return;
    // Whoever is asked to end must be able to hear it.
    this.control.thaw();
    this.control.goOn();
    this.#abort.abort(new Unwound(why, text));
  }

  /** Ends its processes without asking them: each moment that they go on may cost. */
  kill(why: Unwound['why'] = 'stopped', text?: string): void {
    this.control.kill();
    this.abandon(why, text);
  }

  /** Throws what unwinds the work, if it must stop. */
  check(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** Executes a command about this task under its fence. A refused fence means somebody else has the task now. */
  async execute(command: WithoutFence<CommandOf<FencedType>>): Promise<Reply> {
    const { projectId, id: taskId, lease, builders } = this.task;
    if (this.isFrozen) await this.control.moving();
    const fence = { projectId, taskId, token: this.token };
    const credit =
      command.type === 'run.finish'
        ? { workerId: lease!.workerId }
        : command.type === 'merge.land'
          ? { workers: [...builders, lease!.workerId] }
          : {};
    const reply = await this.#store.execute({ ...command, ...credit, ...fence } as Command);
    if (reply.ok || reply.refusal.code !== 'stale_lease') return reply;
    this.abandon('lease lost');
    throw this.signal.reason;
  }

  /** Like execute, for commands that only a bug would have refused. */
  async must(command: WithoutFence<CommandOf<FencedType>>): Promise<void> {
    const reply = await this.execute(command);
    if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
  }

  /** Renews the lease until the work ended. A store that fails once is asked again at the next beat. */
  async keepAlive(onTrouble: (error: unknown) => void): Promise<void> {
    const { projectId, id: taskId } = this.task;
    while (!this.#ended.signal.aborted) {
      await this.#clock.sleep(HEARTBEAT_MS, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      try {
        const { frozenMs } = this.control;
        const renewal = { type: 'lease.renew', projectId, taskId, token: this.token } as const;
        const reply = await this.#store.execute(frozenMs > 0 ? { ...renewal, frozenMs } : renewal);
        if (!reply.ok) return this.abandon('lease lost');
        this.control.forgetFrozen(frozenMs);
      } catch (error) {
        onTrouble(error);
      }
    }
  }

  end(): void {
    this.#ended.abort();
  }

  /** Gives the task back in its stage; its run, if any, ends as interrupted. */
  async release(why: string): Promise<void> {
    const fence = { projectId: this.task.projectId, taskId: this.task.id, token: this.token };
    await this.#store.execute({ type: 'lease.release', ...fence, why });
  }
}
