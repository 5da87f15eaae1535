import {
  REACTORS,
  type SessionFile,
  type Task,
  type Worker,
  type WorkerStatus,
  workerIdOf,
  workerName,
} from '@tidemill/contract';
import { workerStatus } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const END_MS = 1_000;

/** Keeps the session files in line with the store. The files are never read: the store is the source of truth. */
export class SessionMirror implements Reactor {
  readonly name = 'session-files';
  readonly projectId: string;
  /** Events that may change a worker's file. */
  readonly on = REACTORS['session-files'].on;
  readonly atOnce = 100;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async begin(names: string[]): Promise<void> {
    if (!this.#deps.sessions) return;
    await this.#deps.sessions.keepOnly(names);
    await this.#write(names);
  }

  async end(names: string[]): Promise<void> {
    if (!this.#deps.sessions) return;
    await this.#write(names, 'stopped');
    // An unwritable folder must not delay the shutdown.
    await Promise.race([this.#deps.sessions.settled(), this.#deps.clock.sleep(END_MS)]);
  }

  async handle(call: ReactorCall): Promise<void> {
    const { sessions } = this.#deps;
    if (call.cause !== 'events' || !sessions) return;
    const dropped = new Set<string>();
    const due = new Set<string>();
    for (const { body } of call.events) {
      const ids = 'workerId' in body && body.workerId ? [body.workerId] : 'workers' in body ? (body.workers ?? []) : [];
      for (const name of ids.filter((id) => this.#isOurs(id)).map(workerName)) {
        if (body.type === 'worker.removed' || body.type === 'worker.reset') dropped.add(name);
        if (body.type === 'worker.removed') due.delete(name);
        else due.add(name);
      }
    }
    for (const name of dropped) sessions.drop(name);
    if (due.size > 0) await this.#write([...due]);
  }

  #isOurs(workerId: string): boolean {
    const { project, host } = this.#deps;
    const name = workerName(workerId);
    return [workerIdOf(project.id, name, host), workerIdOf(project.id, name)].includes(workerId);
  }

  async #write(names: string[], status?: WorkerStatus): Promise<void> {
    const { store, project, sessions, clock, host } = this.#deps;
    const workers = await store.workers(project.id);
    const leased = await store.leased(project.id);
    const jobs = await store.records({ noun: 'job', projectId: project.id, isOpen: true });
    for (const worker of workers) {
      const hasAgent = worker.role === 'builder' || worker.role === 'reviewer';
      if (!names.includes(worker.name) || !hasAgent || worker.isOutside || worker.host !== host) continue;
      const task = leased.find(({ lease }) => lease?.workerId === worker.id) ?? null;
      const job = jobs.find(({ lease }) => lease?.workerId === worker.id) ?? null;
      const run = task?.lastRunId ? await store.run(task.lastRunId) : null;
      const mode = job?.mode ?? (run?.status === 'running' ? run.mode : null);
      const is = status ?? workerStatus(worker, (task ?? job) && { mode });
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
