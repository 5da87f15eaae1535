import type { LoggedEvent, Task } from '@tidemill/contract';
import type { Command, Decision, Slice } from '@tidemill/core';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { type Files, isSound, treeOf } from './files.ts';
import { droppedLines } from './merge-losses.ts';
import { PeopleInvariants } from './people-invariants.ts';
import type { PullStory } from './pull-story.ts';
import type { SimRepository } from './repository.ts';

export class BrokenInvariant extends Error {
  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`);
    this.name = 'BrokenInvariant';
  }
}

/** Named invariants, checked from outside: none of them uses the code under test. */
export class Invariants {
  /** The first broken invariant; it ends the simulation. */
  broken: BrokenInvariant | null = null;
  /** Filled by the gates: trees on which they really ran and passed. */
  readonly passedTrees = new Set<string>();
  readonly people = new PeopleInvariants((invariant, detail) => this.break(invariant, detail));
  /** Present if work lands by pull requests. */
  pulls: PullStory | null = null;
  readonly #acknowledged: LoggedEvent[] = [];
  readonly #leases = new Map<string, number>();
  readonly #holders = new Map<string, Set<string>>();
  /** How many tasks a merger may hold: those that land together. */
  batch = 1;
  readonly #landedTasks = new Set<string>();
  readonly #endedJobs = new Set<string>();
  readonly #recordedTrees = new Set<string>();

  /** By the number of their task: what a person accepted that a merge dropped. */
  readonly #acceptedLosses = new Map<string, string>();
  readonly #numbers = new Map<string, string>();

  break(invariant: string, detail: string): void {
    this.broken ??= new BrokenInvariant(invariant, detail);
  }

  /** Sees each decision before it is written. */
  decided(slice: Slice, command: Command, decision: Decision): void {
    if (!decision.ok || !('token' in command) || decision.events.length === 0) return;
    const jobId = 'jobId' in command ? command.jobId : undefined;
    const work = jobId === undefined ? slice.tasks.get(command.subjectId) : slice.record('job', jobId);
    // An interrupted run reports its cost after its lease ended: this changes accounts, not the task.
    const isLateBill =
      command.type === 'run.spend' &&
      slice.runs.get(command.runId)?.outcome === 'interrupted' &&
      decision.events.every(({ type }) => type === 'run.spent' || type.startsWith('budget.'));
    if (work && command.token !== work.fence && !isLateBill)
      this.break('no write with an old fence', `${command.type} with ${command.token}, the newest is ${work.fence}`);
  }

  /** Sees each event once, in the order of the log. */
  committed(event: LoggedEvent): void {
    const { body } = event;
    this.people.committed(event);
    this.pulls?.invariants.committed(event);
    if (body.type === 'lease.claimed') {
      const workId = body.jobId ?? body.subjectId;
      if (this.#leases.has(workId)) this.break('one live lease per task', `${workId} claimed twice`);
      const held = this.#holders.get(body.workerId) ?? new Set();
      const most = body.workerId.endsWith('/merger') ? this.batch : 1;
      if (held.size >= most)
        this.break(
          'one task per worker, and one batch per merger',
          `${body.workerId} holds ${[...held]} and ${workId}`,
        );
      this.#leases.set(workId, body.token);
      this.#holders.set(body.workerId, held.add(workId));
    }
    if (body.type === 'task.created') this.#numbers.set(body.taskId, String(body.number));
    if (body.type === 'task.matter_approved' && body.losses && body.by.kind === 'person') {
      const number = this.#numbers.get(body.taskId) ?? '';
      this.#acceptedLosses.set(number, `${this.#acceptedLosses.get(number) ?? ''} ${body.losses.join(' ')}`);
    }
    if (body.type === 'job.ended') {
      if (this.#endedJobs.has(body.jobId)) this.break('a job ends once', body.jobId);
      this.#endedJobs.add(body.jobId);
    }
    if (body.type === 'lease.released') {
      const workId = body.jobId ?? body.subjectId;
      this.#leases.delete(workId);
      this.#holders.get(body.workerId)?.delete(workId);
    }
    if (body.type === 'evidence.recorded' && body.evidence.status === 'pass')
      this.#recordedTrees.add(body.evidence.tree);
  }

  /** The gates really passed on this tree, and that is on record. */
  isProven(tree: string): boolean {
    return this.passedTrees.has(tree) && this.#recordedTrees.has(tree);
  }

  acknowledged(events: LoggedEvent[]): void {
    this.#acknowledged.push(...events);
  }

  /** Sees each landing at the moment the target moves. */
  landed(message: string, tree: string, dropped: string[]): void {
    const number = /Task: #(\d+)/.exec(message)?.[1] ?? 'none';
    this.#keeps(number, dropped);
    if (this.#landedTasks.has(number)) this.break('no work twice on the target', `#${number} landed twice`);
    this.#landedTasks.add(number);
    if (!this.passedTrees.has(tree))
      this.break('nothing merged without evidence for that very tree', `#${number}: no gate passed on ${tree}`);
    if (!this.#recordedTrees.has(tree))
      this.break('nothing merged without evidence for that very tree', `#${number}: nothing on record for ${tree}`);
  }

  /** A merge at the forge changes the target. A task may come again and change its own file. */
  keeps(taskId: string, before: Files, after: Files): void {
    const number = this.#numbers.get(taskId) ?? 'none';
    const ofOthers = new Map(before);
    ofOthers.delete(`file-${number}`);
    this.#keeps(number, droppedLines(ofOthers, after));
  }
  #keeps(number: string, dropped: string[]): void {
    const accepted = this.#acceptedLosses.get(number) ?? '';
    const lost = dropped.find((line) => !isOwnLine(line, number) && !accepted.includes(line));
    if (lost) this.break('no line of the target is lost without a person', `#${number} drops ${lost}`);
  }

  async atEnd(store: Store, projectId: string, repository: SimRepository): Promise<void> {
    const stored = new Map<number, string>();
    for (let after = 0; ; ) {
      const page = await store.events({ after, limit: 1000 });
      for (const event of page) stored.set(event.seq, JSON.stringify(event.body));
      if (page.length === 0) break;
      after = page.at(-1)!.seq;
    }
    for (const event of this.#acknowledged) {
      if (stored.get(event.seq) !== JSON.stringify(event.body))
        this.break('every acknowledged event is still there', `${event.seq} ${event.body.type}`);
    }
    const tasks = await store.tasks({ projectId, limit: 100_000 });
    for (const task of tasks) this.#ended(task, repository);
    await this.people.atEnd(store, tasks);
    if (this.pulls) return this.pulls.invariants.atEnd(tasks, this.pulls.forge);
    if (!repository.isPushed)
      this.break('everything that landed is pushed', `the remote is at ${repository.remote.tip}`);
    const target = repository.commits.get(repository.target)!;
    if (!isSound(target.files)) this.break('the target is always sound', treeOf(target.files));
  }

  #ended(task: Task, repository: SimRepository): void {
    if (task.counters.reviewCycles > 3)
      this.break('review cycles ≤ 3', `#${task.number} had ${task.counters.reviewCycles}`);
    const asks = ['done', 'cancelled', 'needs_info', 'blocked'].includes(task.stage) || task.waiting !== null;
    const waitsForOthers = task.stage === 'open' && task.unmet > 0;
    if (!asks && !waitsForOthers) this.break('every task ends', `#${task.number} is still in ${task.stage}`);
    if (this.pulls) return;
    const hasLanded = repository.landed.some(({ message }) => message.includes(`Task: #${task.number}\n`));
    if ((task.stage === 'done') !== hasLanded)
      this.break('done means landed', `#${task.number} is ${task.stage}, landed: ${hasLanded}`);
  }
}

/** A task may change its own lines. */
const isOwnLine = (line: string, number: string) => line.startsWith(`line-${number}-`);
