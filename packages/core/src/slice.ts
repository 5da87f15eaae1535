import type {
  Evidence,
  Project,
  RecordNoun,
  RecordOf,
  Role,
  Run,
  StoredRecord,
  Task,
  Worker,
} from '@tidemill/contract';
import { isOpenConflict } from './pipeline/open-conflict.ts';

/** Rows of one noun that are loaded, and which of them changed since. Rows are replaced, never mutated. */
export class Rows<T extends { id: string }> {
  readonly #rows = new Map<string, T>();
  readonly changed = new Map<string, T>();
  readonly removed = new Set<string>();

  load(row: T): void {
    if (!this.#rows.has(row.id)) this.#rows.set(row.id, row);
  }
  get(id: string): T | undefined {
    return this.#rows.get(id);
  }
  put(row: T): void {
    this.#rows.set(row.id, row);
    this.changed.set(row.id, row);
    this.removed.delete(row.id);
  }
  remove(id: string): void {
    this.#rows.delete(id);
    this.changed.delete(id);
    this.removed.add(id);
  }
  values(): IterableIterator<T> {
    return this.#rows.values();
  }
}

/**
 * The part of the world a batch of commands may see and change. A store loads it by `scopeOf`, `decide` reads it,
 * `reduce` writes it, and the store saves what changed: one projection for every store and for replay.
 * Commands of one batch see each other's changes, because the indexes below are kept in `putTask` and `putEvidence`.
 */
export class Slice {
  readonly projects = new Rows<Project>();
  readonly tasks = new Rows<Task>();
  readonly runs = new Rows<Run>();
  readonly workers = new Rows<Worker>();
  readonly evidence = new Rows<Evidence>();
  readonly records = new Rows<StoredRecord>();
  readonly #ready = new Map<string, string[]>();
  readonly #openConflicts = new Map<string, number>();
  readonly #scopedRunning = new Map<string, Set<string>>();
  readonly #leasedBy = new Map<string, Set<string>>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #byTree = new Map<string, Evidence[]>();
  readonly #edges = new Map<string, string[]>();

  loadReady(projectId: string, role: Role, taskIds: string[]): void {
    this.#ready.set(`${projectId}/${role}`, taskIds);
  }
  /** Candidates in claiming order; some may have been claimed by an earlier command of the batch. */
  ready(projectId: string, role: Role): Task[] {
    const ids = this.#ready.get(`${projectId}/${role}`) ?? [];
    return ids.map((id) => this.tasks.get(id)).filter((task) => task !== undefined);
  }
  loadOpenConflicts(projectId: string, count: number): void {
    this.#openConflicts.set(projectId, count);
  }
  /** Those that wait for a person, as far as the scope asked for them. */
  openConflicts(projectId: string): number {
    return this.#openConflicts.get(projectId) ?? 0;
  }
  loadScopedRunning(projectId: string, taskIds: string[]): void {
    this.#scopedRunning.set(projectId, new Set(taskIds));
  }
  scopedRunning(projectId: string): Task[] {
    const ids = this.#scopedRunning.get(projectId) ?? [];
    return [...ids]
      .map((id) => this.tasks.get(id))
      .filter((task) => task !== undefined && task.lease !== null) as Task[];
  }
  loadLeasedBy(workerId: string, taskIds: string[]): void {
    for (const id of taskIds) this.#addLeasedBy(workerId, id);
  }
  /** The task a worker holds, if any. */
  leasedBy(workerId: string): Task | undefined {
    for (const id of this.#leasedBy.get(workerId) ?? []) {
      const task = this.tasks.get(id);
      if (task?.lease?.workerId === workerId) return task;
    }
    return undefined;
  }
  loadDependents(taskId: string, dependents: string[]): void {
    for (const id of dependents) this.#addDependent(taskId, id);
  }
  dependents(taskId: string): Task[] {
    const ids = this.#dependents.get(taskId) ?? [];
    return [...ids]
      .sort()
      .map((id) => this.tasks.get(id))
      .filter((task) => task !== undefined);
  }
  loadEdges(taskId: string, dependsOn: string[]): void {
    this.#edges.set(taskId, dependsOn);
  }
  edges(taskId: string): string[] {
    return this.tasks.get(taskId)?.dependsOn ?? this.#edges.get(taskId) ?? [];
  }
  record<N extends RecordNoun>(noun: N, id: string): RecordOf<N> | undefined {
    const found = this.records.get(id);
    return found?.noun === noun ? (found as RecordOf<N>) : undefined;
  }
  /** Those of the project that are loaded: see `Scope.projectRecords` and `Scope.openRecordsOf`. */
  recordsOf<N extends RecordNoun>(noun: N, projectId: string): RecordOf<N>[] {
    const all = [...this.records.values()].filter((each) => each.noun === noun && each.projectId === projectId);
    return all as RecordOf<N>[];
  }
  loadEvidence(evidence: Evidence): void {
    if (this.evidence.get(evidence.id)) return;
    this.evidence.load(evidence);
    this.#indexEvidence(evidence);
  }
  evidenceFor(projectId: string, tree: string): Evidence[] {
    return this.#byTree.get(`${projectId}/${tree}`) ?? [];
  }
  putTask(task: Task): void {
    const before = this.tasks.get(task.id);
    const more = Number(isOpenConflict(task)) - Number(before !== undefined && isOpenConflict(before));
    if (more !== 0) this.#openConflicts.set(task.projectId, this.openConflicts(task.projectId) + more);
    this.tasks.put(task);
    for (const dependency of task.dependsOn) this.#addDependent(dependency, task.id);
    if (task.lease) this.#addLeasedBy(task.lease.workerId, task.id);
    if (task.lease && task.files.length > 0) {
      const running = this.#scopedRunning.get(task.projectId) ?? new Set();
      this.#scopedRunning.set(task.projectId, running.add(task.id));
    }
  }
  putEvidence(evidence: Evidence): void {
    this.evidence.put(evidence);
    this.#indexEvidence(evidence);
  }
  #indexEvidence(evidence: Evidence): void {
    const key = `${evidence.projectId}/${evidence.tree}`;
    this.#byTree.set(key, [...(this.#byTree.get(key) ?? []), evidence]);
  }
  #addLeasedBy(workerId: string, taskId: string): void {
    this.#leasedBy.set(workerId, (this.#leasedBy.get(workerId) ?? new Set()).add(taskId));
  }
  #addDependent(dependency: string, dependent: string): void {
    this.#dependents.set(dependency, (this.#dependents.get(dependency) ?? new Set()).add(dependent));
  }
}
