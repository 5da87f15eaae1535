import type { Role, Task } from '@tidemill/contract';
import { type Command, type CommandOf, type CommandType, HEARTBEAT_MS, type Reply } from '@tidemill/core';
import type { Clock, Store, WorktreeRef } from '../ports.ts';

/** Why work on a task ended before its stage did. Thrown to unwind; caught by the slot, nowhere else. */
export class Unwound extends Error {
  readonly why: 'lease lost' | 'shutdown';
  constructor(why: 'lease lost' | 'shutdown') {
    super(why);
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
export class Held {
  readonly task: Task;
  readonly token: number;
  readonly role: Role;
  readonly ref: WorktreeRef;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  #ended = new AbortController();

  constructor(task: Task, role: Role, store: Store, clock: Clock) {
    this.task = task;
    this.token = task.lease!.token;
    this.role = role;
    this.ref = { number: task.number, branch: task.branch };
    this.#store = store;
    this.#clock = clock;
  }

  /** Aborts when the work must stop: the lease is gone, or Tidemill shuts down. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abandon(why: Unwound['why']): void {
    if (!this.signal.aborted) this.#abort.abort(new Unwound(why));
  }

  /** Throws what unwinds the work, if it must stop. */
  check(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** Executes a command about this task under its fence. A refused fence means somebody else has the task now. */
  async execute(command: WithoutFence<CommandOf<FencedType>>): Promise<Reply> {
    const fence = { projectId: this.task.projectId, taskId: this.task.id, token: this.token };
    const reply = await this.#store.execute({ ...command, ...fence } as Command);
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
        const reply = await this.#store.execute({ type: 'lease.renew', projectId, taskId, token: this.token });
        if (!reply.ok) return this.abandon('lease lost');
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
