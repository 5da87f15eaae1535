import {
  REACTORS,
  type Run,
  type SessionFile,
  type Task,
  type Worker,
  type WorkerStatus,
  workerIdOf,
  workerName,
} from '@tidemill/contract';
import { workerStatus } from '@tidemill/core';
import type { Reactor, ReactorCall, SessionResponse } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const END_MS = 1_000;
/** Looked at after a start. */
const LAST_RUNS = 100;

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
    await this.#respondAgain();
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
    for (const { body } of call.events)
      if (body.type === 'run.started' || body.type === 'run.finished') await this.#respond(body);
  }

  /** What a run produced is there from its end to the start of the worker's next run. */
  async #respond({ type, runId }: { type: 'run.started' | 'run.finished'; runId: string }): Promise<void> {
    const { sessions, store } = this.#deps;
    const run = await store.run(runId);
    if (!sessions || !run || !this.#isOurs(run.workerId)) return;
    const worker = (await store.workers(this.projectId)).find(({ id }) => id === run.workerId);
    if (!worker || worker.isOutside || !hasAgent(worker)) return;
    sessions.respond(worker.name, type === 'run.started' ? null : await this.#responseOf(worker.name, run));
  }

  /** The last daemon may have ended before it wrote them. */
  async #respondAgain(): Promise<void> {
    const { store, project } = this.#deps;
    const types = ['run.started', 'run.finished'];
    const last = await store.events({ projectId: project.id, types, newestFirst: true, limit: LAST_RUNS });
    const bodies = last.flatMap(({ body }) =>
      body.type === 'run.started' || body.type === 'run.finished' ? body : [],
    );
    for (const body of bodies.reverse()) await this.#respond(body);
  }

  async #responseOf(agentId: string, run: Run): Promise<SessionResponse> {
    const { store, workspace } = this.#deps;
    const { id: runId, outcome, failure, mode, summary, usage } = run;
    const task = run.jobId === undefined ? await store.task(run.subjectId) : null;
    const commit = task?.head?.commit ?? null;
    return {
      agentId,
      isFailed: failure !== null || outcome === 'failed' || outcome === 'interrupted',
      outcome: outcome ?? 'none',
      failure,
      mode,
      runId,
      task: task && { number: task.number, title: task.title, branch: task.branch, commit },
      summary,
      files: commit === null ? [] : await workspace.filesIn(commit, 'base'),
      costUsd: usage.costUsd,
      finishedAt: new Date(run.endedAt ?? this.#deps.clock.now()).toISOString(),
    };
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
      if (!names.includes(worker.name) || !hasAgent(worker) || worker.isOutside || worker.host !== host) continue;
      const task = leased.find(({ lease }) => lease?.workerId === worker.id) ?? null;
      const job = jobs.find(({ lease }) => lease?.workerId === worker.id) ?? null;
      const run = task?.lastRunId ? await store.run(task.lastRunId) : null;
      const mode = job?.mode ?? (run?.status === 'running' ? run.mode : null);
      const is = status ?? workerStatus(worker, (task ?? job) && { mode });
      sessions?.put(sessionOf(worker, task, is, clock.now()));
    }
  }
}

const hasAgent = ({ role }: Worker) => role === 'builder' || role === 'reviewer';

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
