import { createHash } from 'node:crypto';
import { AppError, EVENT_VERSION, isSignOfLife, type LoggedEvent, type Task } from '@tidemill/contract';
import {
  type Command,
  type DecideEnv,
  type Decision,
  type decide,
  merged,
  type Reply,
  type ReplyToAll,
  type reduce,
  type Slice,
  scopeOf,
} from '@tidemill/core';
import type { Clock, Ids } from '../ports.ts';
import { ConstraintError, type Driver, type PendingEvent } from './driver.ts';
import { UnreadableRow } from './loaded-slice.ts';

/** A larger batch would hold the event loop (SQLite) or row locks (Postgres) for too long. */
const LARGEST_BATCH = 256;

export interface Rules {
  decide: typeof decide;
  reduce: typeof reduce;
}

/** Commands of one call: all of them happen, or none. */
interface Call {
  commands: readonly Command[];
  resolve(reply: ReplyToAll): void;
  reject(error: unknown): void;
}

/** The result of a command, before its events have their numbers. */
interface Accepted {
  events: PendingEvent[];
  task: Task | null;
}
/** The same for all commands of a call. */
type Outcome =
  | { kind: 'accepted'; each: Accepted[] }
  | { kind: 'refused'; reply: Extract<ReplyToAll, { ok: false }> }
  | { kind: 'threw'; error: unknown };

/** A failed call has already changed the slice, so the batch starts again without it. */
class SpoiledSlice extends Error {
  readonly call: Call;
  readonly outcome: Exclude<Outcome, { kind: 'accepted' }>;
  constructor(call: Call, outcome: Exclude<Outcome, { kind: 'accepted' }>) {
    super('the slice is half changed');
    this.call = call;
    this.outcome = outcome;
  }
}

/**
 * Group commit: calls that arrive together, or during a transaction, share the next one. Callers get their replies after
 * its fsync, never before. Commands of a batch are decided in the order of their calls, each on the state after the
 * previous one.
 */
export class GroupCommit {
  readonly #driver: Driver;
  readonly #rules: Rules;
  readonly #clock: Clock;
  readonly #env: Omit<DecideEnv, 'now'>;
  readonly #onCommit: (isQuiet: boolean) => void;
  #queue: Call[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(driver: Driver, rules: Rules, clock: Clock, ids: Ids, onCommit: (isQuiet: boolean) => void) {
    this.#driver = driver;
    this.#rules = rules;
    this.#clock = clock;
    this.#onCommit = onCommit;
    this.#env = { newId: (prefix) => ids.next(prefix), hash: sha256 };
  }

  async execute(command: Command): Promise<Reply> {
    const reply = await this.executeAll([command]);
    return reply.ok ? reply.replies[0]! : { ok: false, refusal: reply.refusal };
  }

  executeAll(commands: readonly Command[]): Promise<ReplyToAll> {
    if (this.#closed) {
      return Promise.reject(new AppError('store_failed', 'The store is closed.', { hint: 'Open it again.' }));
    }
    if (commands.length === 0) return Promise.resolve({ ok: true, replies: [] });
    const { promise, resolve, reject } = Promise.withResolvers<ReplyToAll>();
    this.#queue.push({ commands, resolve, reject });
    this.#running ??= this.#drain();
    return promise;
  }

  /** Resolves when every call made so far has its reply; later calls are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await new Promise<void>((start) => this.#driver.defer(start));
      await this.#commit(this.#queue.splice(0, LARGEST_BATCH));
    }
    this.#running = null;
  }

  async #commit(batch: Call[]): Promise<void> {
    const outcomes: Outcome[] = [];
    const now = this.#clock.now();
    try {
      const lookups = merged(batch.flatMap(({ commands }) => commands.flatMap(scopeOf)));
      const before = await this.#driver.transact(lookups, now, (slice) => {
        outcomes.length = 0;
        for (const call of batch) outcomes.push(this.#decide(slice, call, now));
        return outcomes.flatMap(eventsOf);
      });
      answer(batch, outcomes, before);
      const events = outcomes.flatMap(eventsOf);
      if (events.length > 0) this.#onCommit(events.every(({ body }) => isSignOfLife(body.type)));
    } catch (error) {
      await this.#recover(batch, error);
    }
  }

  #decide(slice: Slice, call: Call, now: number): Outcome {
    const each: Accepted[] = [];
    const fail = (outcome: Exclude<Outcome, { kind: 'accepted' }>): Outcome => {
      if (each.some(({ events }) => events.length > 0)) throw new SpoiledSlice(call, outcome);
      return outcome;
    };
    for (const [index, command] of call.commands.entries()) {
      let decision: Decision;
      try {
        decision = this.#rules.decide(slice, command, { ...this.#env, now });
      } catch (error) {
        return fail({ kind: 'threw', error });
      }
      if (!decision.ok) return fail({ kind: 'refused', reply: { ...decision, index } });
      const events = decision.events.map((body) => ({ projectId: command.projectId, at: now, body }));
      try {
        for (const event of events) this.#rules.reduce(slice, event.projectId, event.at, event.body);
      } catch (error) {
        throw new SpoiledSlice(call, { kind: 'threw', error });
      }
      each.push({ events, task: subject(slice, command, events) });
    }
    return { kind: 'accepted', each };
  }

  /** A faulty call must not fail the others: the batch is retried without it. */
  async #recover(batch: Call[], error: unknown): Promise<void> {
    if (error instanceof SpoiledSlice) {
      answer([error.call], [error.outcome], 0);
      const rest = batch.filter((call) => call !== error.call);
      if (rest.length > 0) await this.#commit(rest);
    } else if ((error instanceof ConstraintError || error instanceof UnreadableRow) && batch.length > 1) {
      for (const call of batch) await this.#commit([call]);
    } else {
      const reason = error instanceof ConstraintError ? clash(error) : error;
      for (const call of batch) call.reject(reason);
    }
  }
}

const eventsOf = (outcome: Outcome): PendingEvent[] =>
  outcome.kind === 'accepted' ? outcome.each.flatMap(({ events }) => events) : [];

function answer(batch: Call[], outcomes: Outcome[], before: number): void {
  let seq = before;
  const numbered = (events: PendingEvent[]): LoggedEvent[] =>
    events.map((event) => ({ seq: ++seq, v: EVENT_VERSION, ...event }));
  batch.forEach((call, index) => {
    const outcome = outcomes[index]!;
    if (outcome.kind === 'threw') call.reject(outcome.error);
    else if (outcome.kind === 'refused') call.resolve(outcome.reply);
    else {
      const replies = outcome.each.map(({ events, task }) => ({ ok: true as const, events: numbered(events), task }));
      call.resolve({ ok: true, replies });
    }
  });
}

/** The task of a command: the one it names, or the one it claimed. */
function subject(slice: Slice, command: Command, events: PendingEvent[]): Task | null {
  const claimed = events.find((event) => event.body.type === 'lease.claimed')?.body;
  const named = 'taskId' in command ? command.taskId : 'subjectId' in command ? command.subjectId : null;
  const taskId = named ?? (claimed?.type === 'lease.claimed' ? claimed.subjectId : null);
  return (taskId && slice.tasks.ifLoaded(taskId)) || null;
}

function clash(error: ConstraintError): AppError {
  return new AppError('conflict', `The store already holds a row like this one: ${error.message}`, {
    hint: 'Another command created the same thing at the same time. Read it again, then decide.',
    cause: error,
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
