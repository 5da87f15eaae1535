import type { Job, Role, Task } from '@tidemill/contract';
import {
  aboutWork,
  type Command,
  type CommandOf,
  type CommandType,
  HEARTBEAT_MS,
  isJob,
  type Reply,
  silenceLimitMs,
  type Work,
} from '@tidemill/core';
import type { Clock, Store, WorktreeRef } from '../../ports.ts';
import { CommandSigns } from './command-signs.ts';
import { WorkControl } from './work-control.ts';

/** Why work on a task ended before its stage did. Thrown to unwind; caught by the slot, nowhere else. */
export class Unwound extends Error {
  readonly why: 'lease lost' | 'shutdown' | 'stopped' | 'budget';
  constructor(why: Unwound['why'], text: string = why) {
    super(text);
    this.why = why;
  }
}

type Fenced = 'projectId' | 'subjectId' | 'jobId' | 'token';
type FencedType = Extract<
  CommandType,
  | `run.${string}`
  | `stage.${string}`
  | `merge.${string}`
  | 'work.commit'
  | 'work.judge'
  | 'evidence.record'
  | 'guard.deny'
>;
// Distributes over the union, so that each command keeps its own fields.
type WithoutFence<C> = C extends unknown ? Omit<C, Fenced> : never;

export type FencedCommand = WithoutFence<CommandOf<FencedType>>;

/** Leased work: renews its lease, fences its writes, and reports its end through `signal`. */
export class LeasedWork {
  readonly work: Work;
  readonly token: number;
  readonly role: Role;
  /** Part of every command about this work. */
  readonly fence: { projectId: string; subjectId: string; jobId?: string; token: number };
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  #ended = new AbortController();
  #signAt: number;
  /** The change is being proven. */
  isTesting = false;
  /** What its agent printed last. */
  lastOutput = '';
  readonly control: WorkControl;
  /** The project's commands that run for this work. */
  readonly watch: CommandSigns;

  constructor(work: Work, role: Role, store: Store, clock: Clock) {
    this.work = work;
    this.token = work.lease!.token;
    this.role = role;
    this.fence = { projectId: work.projectId, ...aboutWork(work), token: this.token };
    this.#store = store;
    this.#clock = clock;
    this.control = new WorkControl(clock);
    this.watch = new CommandSigns(clock, () => this.sign());
    this.#signAt = clock.now();
  }

  /** Aborts when the work must stop: the lease is gone, or Tidemill shuts down. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Records activity of the work. */
  sign(): void {
    this.#signAt = this.#clock.now();
  }

  /** Time of the last activity, for the supervisor. A command within its own time limit counts as activity. */
  get lastSignAt(): number {
    const { silentUntil } = this.watch;
    return silentUntil === null ? this.#signAt : Math.max(this.#signAt, Math.min(this.#clock.now(), silentUntil));
  }

  /** What the health of its worker depends on. */
  signs(): { signAt: number; limitMs: number } {
    const { work, isTesting, lastSignAt: signAt } = this;
    return { signAt, limitMs: silenceLimitMs(isJob(work) ? { files: [] } : work, isTesting) };
  }

  /** A person froze it, so there is no output. */
  get isFrozen(): boolean {
    return this.control.isFrozen;
  }

  thaw(): void {
    const { frozenAt } = this.control;
    if (frozenAt === null) return;
    this.control.thaw();
    // Time spent frozen must not count as stuck.
    this.watch.extend(this.#clock.now() - frozenAt);
    this.sign();
  }

  abandon(why: Unwound['why'], text?: string): void {
    if (this.signal.aborted) return;
    // A suspended process cannot react to the request to stop.
    this.control.thaw();
    this.control.endHalt();
    this.#abort.abort(new Unwound(why, text));
  }

  /** Kills its processes at once, because each further moment may cost money. */
  kill(why: Unwound['why'] = 'stopped', text?: string): void {
    this.control.kill();
    this.abandon(why, text);
  }

  /** Throws if the work must stop. */
  check(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** `#7`, or the id of a job. */
  get label(): string {
    return isJob(this.work) ? this.work.id : `#${this.work.number}`;
  }

  /** Executes a command about this work under its fence. A refused fence means that the work was leased again. */
  async execute(command: FencedCommand): Promise<Reply> {
    if (this.isFrozen) await this.control.moving();
    const reply = await this.#store.execute(this.fenced(command));
    if (reply.ok || reply.refusal.code !== 'stale_lease') return reply;
    this.abandon('lease lost');
    throw this.signal.reason;
  }

  /** The workers whose statistics count the end of the work. */
  #credit(type: CommandType): { workerId?: string; workers?: string[] } {
    const { workerId } = this.work.lease!;
    if (type === 'run.finish') return { workerId };
    if (type === 'merge.land' && !isJob(this.work)) return { workers: [...this.work.builders, workerId] };
    return {};
  }

  /** The command with its fence and the workers that it counts for. */
  fenced(command: FencedCommand): Command {
    return { ...command, ...this.#credit(command.type), ...this.fence } as Command;
  }

  /** Like execute, but throws on a refusal. For commands that only a bug can make fail. */
  async must(command: FencedCommand): Promise<void> {
    const reply = await this.execute(command);
    if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
  }

  /** Renews the lease until the work has ended. After a failure of the store, the next heartbeat tries again. */
  async keepAlive(onError: (error: unknown) => void): Promise<void> {
    while (!this.#ended.signal.aborted) {
      await this.#clock.sleep(HEARTBEAT_MS, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      try {
        const { frozenMs } = this.control;
        const renewal = { type: 'lease.renew', ...this.fence } as const;
        const reply = await this.#store.execute(frozenMs > 0 ? { ...renewal, frozenMs } : renewal);
        if (!reply.ok) return this.abandon('lease lost');
        this.control.forgetFrozen(frozenMs);
      } catch (error) {
        onError(error);
      }
    }
  }

  end(): void {
    this.#ended.abort();
  }

  /** Releases the lease. The run, if any, ends as interrupted. */
  async release(why: string): Promise<void> {
    await this.#store.execute({ type: 'lease.release', ...this.fence, why });
  }
}

/** A task in its stage, with its worktree. */
export class LeasedTask extends LeasedWork {
  /** As it was when it was claimed. */
  task: Task;
  readonly ref: WorktreeRef;
  /** Trees on which gates failed in this run. */
  readonly sentBack = new Set<string>();

  constructor(task: Task, role: Role, store: Store, clock: Clock) {
    super(task, role, store, clock);
    this.task = task;
    this.ref = { number: task.number, branch: task.branch };
  }
}

export class LeasedJob extends LeasedWork {
  readonly job: Job;

  constructor(job: Job, role: Role, store: Store, clock: Clock) {
    super(job, role, store, clock);
    this.job = job;
  }
}
