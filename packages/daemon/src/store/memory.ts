import {
  EVENT_VERSION,
  type Evidence,
  type LoggedEvent,
  type Project,
  type RecordNoun,
  type RecordOf,
  type Run,
  recordColumns,
  type StoredRecord,
  type Task,
  taskIdOf,
  type Worker,
} from '@tidemill/contract';
import { isOpenConflict, isReady, PROJECT_RECORDS, type Rows, type Scope, Slice } from '@tidemill/core';
import type { EventFilter, RecordQuery, RepairedRow, StoredRow, Workload } from '../ports.ts';
import type { Driver, PendingEvent, Reads } from './driver.ts';
import { ReadyQueues } from './ready-queue.ts';
import { FINISHED_STAGES, runCount } from './task-columns.ts';
import { tasksWhere } from './task-query.ts';

/** Rows in maps, for the simulator and for tests. Rows are never changed in place, so they are handed out as they are. */
export class MemoryDriver implements Driver {
  readonly #projects = new Map<string, Project>();
  readonly #tasks = new Map<string, Task>();
  readonly #runs = new Map<string, Run>();
  readonly #workers = new Map<string, Worker>();
  readonly #evidence = new Map<string, Evidence>();
  readonly #records = new Map<string, StoredRecord>();
  readonly #byTree = new Map<string, Evidence[]>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #leased = new Map<string, Task>();
  readonly #ready = new ReadyQueues();
  readonly #conflicts = new Map<string, Set<string>>();
  readonly #log: LoggedEvent[] = [];
  readonly reads: Reads;

  constructor() {
    this.reads = this.#reads();
  }

  async transact(scope: Scope, now: number, work: (slice: Slice) => PendingEvent[]): Promise<number> {
    const slice = this.#load(scope, now);
    const events = work(slice);
    const before = this.#log.length;
    for (const event of events) this.#log.push({ seq: this.#log.length + 1, v: EVENT_VERSION, ...event });
    this.#save(slice);
    return before;
  }
  /** A microtask, not a timer: under a virtual clock nothing else would run it. */
  defer(start: () => void): void {
    queueMicrotask(start);
  }
  watch(): () => void {
    return () => undefined;
  }
  /** What is not stored cannot have been damaged. */
  async repair(): Promise<RepairedRow[]> {
    return [];
  }
  async close(): Promise<void> {
    this.#log.length = 0;
  }

  #load(scope: Scope, now: number): Slice {
    const slice = new Slice();
    const task = (id: string) => load(slice.tasks, this.#tasks.get(id));
    for (const id of [...scope.projects, ...scope.lockedProjects]) load(slice.projects, this.#projects.get(id));
    for (const id of scope.workers) load(slice.workers, this.#workers.get(id));
    for (const id of scope.tasks) task(id);
    for (const id of scope.dependentsOf) {
      const dependents = [...(this.#dependents.get(id) ?? [])];
      for (const dependent of dependents) task(dependent);
      slice.loadDependents(id, dependents);
    }
    for (const id of scope.lastRunsOf) {
      const run = this.#runs.get(this.#tasks.get(id)?.lastRunId ?? '');
      load(slice.runs, run);
    }
    for (const { projectId, role, limit } of scope.ready) {
      const window = this.#ready.window(projectId, role, now, limit);
      for (const each of window) slice.tasks.load(each);
      slice.loadReady(
        projectId,
        role,
        window.map((each) => each.id),
      );
    }
    for (const id of scope.openConflicts) slice.loadOpenConflicts(id, this.#conflicts.get(id)?.size ?? 0);
    this.#loadRunning(slice, scope);
    for (const { projectId, tree } of scope.evidence) {
      for (const each of this.#byTree.get(`${projectId}/${tree}`) ?? []) slice.loadEvidence(each);
    }
    this.#loadRecords(slice, scope);
    for (const projectId of scope.edges) {
      for (const each of this.#tasks.values()) {
        if (each.projectId === projectId && !isFinished(each)) slice.loadEdges(each.id, each.dependsOn);
      }
    }
    return slice;
  }

  #loadRecords(slice: Slice, scope: Scope): void {
    for (const id of [...scope.records, ...scope.readRecords]) load(slice.records, this.#records.get(id));
    if (scope.openRecordsOf.length + scope.projectRecords.length === 0) return;
    const all = [...this.#records.values()];
    const open = all.filter((record) => recordColumns(record).isOpen);
    for (const taskId of scope.openRecordsOf)
      for (const record of open) if (recordColumns(record).taskId === taskId) slice.records.load(record);
    for (const { projectId, noun } of scope.projectRecords)
      for (const record of all
        .filter((each) => each.projectId === projectId && each.noun === noun)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, PROJECT_RECORDS))
        slice.records.load(record);
  }

  #loadRunning(slice: Slice, scope: Scope): void {
    if (scope.leasedBy.length === 0 && scope.scopedRunning.length === 0) return;
    const leased = [...this.#leased.values()];
    for (const workerId of scope.leasedBy) {
      const held = leased.filter((task) => task.lease?.workerId === workerId);
      for (const task of held) slice.tasks.load(task);
      slice.loadLeasedBy(
        workerId,
        held.map((task) => task.id),
      );
    }
    for (const projectId of scope.scopedRunning) {
      const running = leased.filter((task) => task.projectId === projectId && task.files.length > 0);
      for (const task of running) slice.tasks.load(task);
      slice.loadScopedRunning(
        projectId,
        running.map((task) => task.id),
      );
    }
  }

  #save(slice: Slice): void {
    for (const project of slice.projects.changed.values()) this.#projects.set(project.id, project);
    for (const run of slice.runs.changed.values()) this.#runs.set(run.id, run);
    for (const worker of slice.workers.changed.values()) this.#workers.set(worker.id, worker);
    for (const id of slice.workers.removed) this.#workers.delete(id);
    for (const evidence of slice.evidence.changed.values()) {
      this.#evidence.set(evidence.id, evidence);
      const tree = `${evidence.projectId}/${evidence.tree}`;
      this.#byTree.set(tree, [...(this.#byTree.get(tree) ?? []), evidence]);
    }
    for (const record of slice.records.changed.values()) this.#records.set(record.id, record);
    for (const task of slice.tasks.changed.values()) this.#saveTask(task);
  }

  #saveTask(task: Task): void {
    const before = this.#tasks.get(task.id);
    this.#tasks.set(task.id, task);
    if (before) this.#ready.remove(before);
    this.#ready.add(task);
    const conflicts = this.#conflicts.get(task.projectId) ?? new Set();
    if (isOpenConflict(task)) this.#conflicts.set(task.projectId, conflicts.add(task.id));
    else conflicts.delete(task.id);
    if (task.lease) this.#leased.set(task.id, task);
    else this.#leased.delete(task.id);
    for (const id of before?.dependsOn ?? []) this.#dependents.get(id)?.delete(task.id);
    for (const id of task.dependsOn) this.#dependents.set(id, (this.#dependents.get(id) ?? new Set()).add(task.id));
  }

  #reads(): Reads {
    const tasksOf = (projectId: string) =>
      // Insertion order is the order of numbers: a map keeps it over updates.
      [...this.#tasks.values()].filter((task) => task.projectId === projectId);
    return {
      projects: async () => [...this.#projects.values()],
      project: async (id) => this.#projects.get(id) ?? null,
      projectByRoot: async (root) => [...this.#projects.values()].find((project) => project.root === root) ?? null,
      task: async (id) => this.#tasks.get(id) ?? null,
      taskByNumber: async (projectId, number) => tasksOf(projectId).find((task) => task.number === number) ?? null,
      tasks: async (query) => tasksWhere(tasksOf(query.projectId), query),
      taskNumbers: async (ids) =>
        new Map(
          ids.flatMap((id) => {
            const task = this.#tasks.get(id);
            return task ? [[id, task.number] as const] : [];
          }),
        ),
      taskSpans: async ({ projectId, afterNumber, limit }) =>
        tasksOf(projectId)
          .filter(({ number }) => number > afterNumber)
          .slice(0, limit)
          .map(({ id, number, stage, createdAt, stageSince, runs }) => ({
            ...{ id, number, stage, createdAt, stageSince },
            runs: runCount(runs),
          })),
      leased: async (projectId) => [...this.#leased.values()].filter((task) => task.projectId === projectId),
      workload: async (projectId, now) => workloadOf(tasksOf(projectId), now),
      nextNotBefore: async (projectId, now) => this.#ready.nextNotBefore(projectId, now),
      workers: async (projectId) => [...this.#workers.values()].filter((worker) => worker.projectId === projectId),
      run: async (id) => this.#runs.get(id) ?? null,
      runs: async (taskId) => [...this.#runs.values()].filter((run) => run.taskId === taskId),
      evidence: async ({ projectId, afterPosition = 0, limit, taskId }) =>
        [...this.#evidence.values()]
          .filter((each) => each.projectId === projectId && each.position > afterPosition)
          .filter((each) => taskId === undefined || each.taskId === taskId)
          .slice(0, limit),
      evidenceForTree: async (projectId, tree) => this.#byTree.get(`${projectId}/${tree}`) ?? [],
      evidenceById: async (id) => this.#evidence.get(id) ?? null,
      evidenceByHash: async (hash) => [...this.#evidence.values()].find((each) => each.hash === hash) ?? null,
      runsEnded: async ({ projectId, after, limit }) =>
        [...this.#runs.values()]
          .filter((run) => run.projectId === projectId)
          .flatMap(({ endedAt, usage, ...run }) =>
            endedAt !== null && endedAt > after ? [{ ...run, endedAt, costUsd: usage.costUsd }] : [],
          )
          .sort((a, b) => a.endedAt - b.endedAt)
          .slice(0, limit),
      record: async (noun, id) => ofNoun(noun, this.#records.get(id)),
      records: async (query) => recordsWhere([...this.#records.values()], query),
      nextDue: async (noun, projectId) => {
        const due = recordsWhere([...this.#records.values()], { noun, projectId }).flatMap(
          (record) => recordColumns(record).dueAt ?? [],
        );
        return due.length > 0 ? Math.min(...due) : null;
      },
      lastSeq: async () => this.#log.length,
      events: async ({ after = 0, upTo = this.#log.length, newestFirst = false, limit, ...filter }) => {
        const found = this.#log.slice(Math.max(after, 0), upTo).filter((event) => matches(event, filter));
        return (newestFirst ? found.reverse() : found).slice(0, limit);
      },
      rows: () => this.#rows(),
    };
  }

  async *#rows(): AsyncGenerator<StoredRow> {
    for (const row of this.#projects.values()) yield { noun: 'project', id: row.id, row };
    for (const row of this.#tasks.values()) yield { noun: 'task', id: row.id, row };
    for (const row of this.#runs.values()) yield { noun: 'run', id: row.id, row };
    for (const row of this.#workers.values()) yield { noun: 'worker', id: row.id, row };
    for (const row of this.#evidence.values()) yield { noun: 'evidence', id: row.id, row };
    for (const row of this.#records.values()) yield { noun: 'record', id: row.id, row };
  }
}

function load<T extends { id: string }>(rows: Rows<T>, row: T | undefined): void {
  if (row) rows.load(row);
}

function ofNoun<N extends RecordNoun>(noun: N, record: StoredRecord | undefined): RecordOf<N> | null {
  return record?.noun === noun ? (record as RecordOf<N>) : null;
}

function recordsWhere<N extends RecordNoun>(all: StoredRecord[], query: RecordQuery<N>): RecordOf<N>[] {
  const { noun, projectId, taskId, isOpen, dueBefore, limit } = query;
  const found = all.filter((record) => {
    const columns = recordColumns(record);
    return (
      record.noun === noun &&
      (projectId === undefined || record.projectId === projectId) &&
      (taskId === undefined || columns.taskId === taskId) &&
      (isOpen === undefined || columns.isOpen === isOpen) &&
      (dueBefore === undefined || (columns.dueAt !== null && columns.dueAt <= dueBefore))
    );
  });
  return found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit) as RecordOf<N>[];
}

function isFinished(task: Task): boolean {
  return FINISHED_STAGES.some((stage) => stage === task.stage);
}

function matches(event: LoggedEvent, filter: EventFilter): boolean {
  if (filter.projectId !== undefined && event.projectId !== filter.projectId) return false;
  if (filter.taskId !== undefined && taskIdOf(event.body) !== filter.taskId) return false;
  return filter.types?.includes(event.body.type) ?? true;
}

function workloadOf(tasks: Task[], now: number): Workload {
  const load: Workload = { leased: 0, ready: 0, waiting: 0, conflicts: 0, byStage: {}, nextNotBefore: null };
  for (const task of tasks) {
    load.byStage[task.stage] = (load.byStage[task.stage] ?? 0) + 1;
    if (isOpenConflict(task)) load.conflicts += 1;
    if (task.lease) load.leased += 1;
    if (!isReady(task)) continue;
    if (task.waiting === null) load.ready += 1;
    else load.waiting += 1;
    if (task.notBefore > now) load.nextNotBefore = Math.min(task.notBefore, load.nextNotBefore ?? task.notBefore);
  }
  return load;
}
