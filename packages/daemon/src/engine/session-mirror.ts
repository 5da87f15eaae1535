import {
  type EventBody,
  type SessionFile,
  type Task,
  type Worker,
  type WorkerStatus,
  workerName,
} from '@tidemill/contract';
import { workerStatus } from '@tidemill/core';
import type { EngineDeps } from './deps.ts';

const END_MS = 1_000;

/** Keeps the session files in line with the store. The store is the truth: nothing is ever read from the files. */
export class SessionMirror {
  /** After these a worker's file may say something else. */
  static readonly TYPES = [
    'worker.beat',
    'worker.crashed',
    'worker.reset',
    'lease.claimed',
    'lease.released',
    'run.started',
    'run.finished',
    'merge.landed',
  ] as const satisfies EventBody['type'][];
  readonly #deps: EngineDeps;
  readonly #due = new Set<string>();
  #writing: Promise<void> | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  async begin(names: string[]): Promise<void> {
    if (!this.#deps.sessions) return;
    await this.#deps.sessions.keepOnly(names);
    await this.#write(names);
  }

  async end(names: string[]): Promise<void> {
    if (!this.#deps.sessions) return;
    await this.#writing;
    await this.#write(names, 'stopped');
    // A folder that cannot be written must not hold up the end.
    await Promise.race([this.#deps.sessions.settled(), this.#deps.clock.sleep(END_MS)]);
  }

  async hear(body: EventBody): Promise<void> {
    const { sessions, onNote } = this.#deps;
    if (!sessions) return;
    const ids = 'workerId' in body && body.workerId ? [body.workerId] : 'workers' in body ? (body.workers ?? []) : [];
    const names = ids.map(workerName);
    if (body.type === 'worker.removed') {
      for (const name of names) this.#due.delete(name);
      // A round under way may have read of it before it went, and would write its file again.
      await this.#writing;
      for (const name of names) sessions.drop(name);
      return;
    }
    if (body.type === 'worker.reset') for (const name of names) sessions.drop(name);
    for (const name of names) this.#due.add(name);
    // One writer; whatever comes while it reads is told by its next round.
    this.#writing ??= this.#writeDue()
      .catch((error: unknown) => onNote('the session files could not be brought up to date', error))
      .finally(() => {
        this.#writing = null;
      });
  }

  async #writeDue(): Promise<void> {
    while (this.#due.size > 0) {
      const names = [...this.#due];
      this.#due.clear();
      await this.#write(names);
    }
  }

  async #write(names: string[], status?: WorkerStatus): Promise<void> {
    const { store, project, sessions, clock } = this.#deps;
    const workers = await store.workers(project.id);
    const leased = await store.leased(project.id);
    for (const worker of workers) {
      const hasAgent = worker.role === 'builder' || worker.role === 'reviewer';
      if (!names.includes(worker.name) || !hasAgent || worker.isOutside) continue;
      const task = leased.find(({ lease }) => lease?.workerId === worker.id) ?? null;
      const run = task?.lastRunId ? await store.run(task.lastRunId) : null;
      const mode = run?.status === 'running' ? run.mode : null;
      const is = status ?? workerStatus(worker, task && { mode });
      sessions?.put(sessionOf(worker, task, is, clock.now()));
    }
  }
}

function sessionOf(worker: Worker, task: Task | null, status: WorkerStatus, now: number): SessionFile {
  return {
    agentId: worker.name,
    status,
    currentProjectNumber: task?.number ?? null,
    currentPhase: task?.stage ?? null,
    branchName: task?.branch ?? null,
    lastHeartbeat: new Date(worker.beats.at(-1)?.at ?? now).toISOString(),
    tasksCompleted: worker.completed,
    currentTaskDescription: task?.title ?? null,
    errorCount: worker.errors,
    lastError: worker.crash?.error ?? worker.lastError,
  };
}
