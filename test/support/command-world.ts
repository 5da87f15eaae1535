import {
  EventBody,
  type Evidence,
  type Project,
  type Role,
  type Run,
  recordColumns,
  type StoredRecord,
  Task,
  type Worker,
} from '@tidemill/contract';
import {
  type Command,
  claimOrder,
  type DecideEnv,
  type Decision,
  decide,
  emptyScope,
  isOpenConflict,
  isReady,
  reduce,
  type Scope,
  Slice,
  scopeOf,
} from '@tidemill/core';

export interface WorldEvent {
  projectId: string;
  at: number;
  body: EventBody;
}

/**
 * The smallest store there is: rows in maps, one command at a time, each decided on exactly what its scope names.
 * Everything handed to core is frozen, so that a change in place throws.
 */
export class CommandWorld {
  readonly projects = new Map<string, Project>();
  readonly tasks = new Map<string, Task>();
  readonly runs = new Map<string, Run>();
  readonly workers = new Map<string, Worker>();
  readonly evidence = new Map<string, Evidence>();
  readonly records = new Map<string, StoredRecord>();
  readonly log: WorldEvent[] = [];
  now = 1_000_000;
  #ids = 0;

  /** Decides, folds the events into the rows and saves them. A refusal changes nothing. */
  execute(command: Command): Decision {
    return this.executeBatch([command])[0]!;
  }
  /** As a store does that lets several commands share a transaction: one slice, loaded once for all of them. */
  executeBatch(commands: Command[]): Decision[] {
    const slice = this.load(mergedScope(commands));
    const decisions = commands.map((command) => this.#apply(slice, command));
    this.#save(slice);
    return decisions;
  }
  #apply(slice: Slice, command: Command): Decision {
    const decision = decide(slice, deepFreeze(command), this.env());
    if (!decision.ok) return decision;
    for (const body of decision.events) {
      this.log.push({ projectId: command.projectId, at: this.now, body: deepFreeze(body) });
      reduce(slice, command.projectId, this.now, body);
    }
    this.#ids += decision.events.length;
    return decision;
  }
  /** A world of its own with the same past. */
  copy(): CommandWorld {
    const copy = new CommandWorld();
    const from = [this.projects, this.tasks, this.runs, this.workers, this.evidence, this.records] as Map<
      string,
      unknown
    >[];
    const to = [copy.projects, copy.tasks, copy.runs, copy.workers, copy.evidence, copy.records] as Map<
      string,
      unknown
    >[];
    for (const [index, rows] of from.entries()) for (const [id, row] of rows) to[index]!.set(id, row);
    copy.log.push(...this.log);
    copy.now = this.now;
    copy.#ids = this.#ids;
    return copy;
  }
  /** What would be decided; nothing is saved. */
  decideOnly(command: Command): Decision {
    return decide(this.load(scopeOf(command)), deepFreeze(command), this.env());
  }
  must(command: Command): EventBody[] {
    const decision = this.execute(command);
    if (!decision.ok) throw new Error(`${command.type} was refused: ${decision.refusal.message}`);
    return decision.events;
  }
  /** The refusal's code; null when the command was accepted. */
  refusal(command: Command): string | null {
    const decision = this.execute(command);
    return decision.ok ? null : decision.refusal.code;
  }

  /** The same env for the same state, so that a command can be decided twice. */
  env(): DecideEnv {
    let next = this.#ids;
    const newId = (prefix: string) => {
      next += 1;
      return `${prefix}_${next}`;
    };
    return { now: this.now, hash: digest, newId };
  }

  load(scope: Scope): Slice {
    const slice = new Slice();
    for (const id of [...scope.projects, ...scope.lockedProjects]) loadRow(slice.projects, this.projects.get(id));
    for (const id of scope.workers) loadRow(slice.workers, this.workers.get(id));
    const tasks = (found: Task[]) => {
      for (const task of found) slice.tasks.load(task);
      return found.map((task) => task.id);
    };
    const all = [...this.tasks.values()];
    for (const id of scope.tasks) loadRow(slice.tasks, this.tasks.get(id));
    for (const id of scope.dependentsOf)
      slice.loadDependents(id, tasks(all.filter((task) => task.dependsOn.includes(id))));
    for (const id of scope.lastRunsOf) loadRow(slice.runs, this.runs.get(this.tasks.get(id)?.lastRunId ?? ''));
    for (const { projectId, role, limit } of scope.ready)
      slice.loadReady(projectId, role, tasks(this.ready(projectId, role).slice(0, limit)));
    for (const id of scope.leasedBy) slice.loadLeasedBy(id, tasks(all.filter((task) => task.lease?.workerId === id)));
    for (const id of scope.openConflicts)
      slice.loadOpenConflicts(id, all.filter((task) => task.projectId === id && isOpenConflict(task)).length);
    for (const id of scope.scopedRunning)
      slice.loadScopedRunning(
        id,
        tasks(all.filter((task) => task.lease && task.projectId === id && task.files.length)),
      );
    for (const { projectId, tree } of scope.evidence)
      for (const link of this.evidence.values())
        if (link.projectId === projectId && link.tree === tree) slice.loadEvidence(link);
    for (const id of [...scope.records, ...scope.readRecords]) loadRow(slice.records, this.records.get(id));
    for (const record of this.records.values()) {
      const { taskId, isOpen } = recordColumns(record);
      const isWanted = scope.projectRecords.some((w) => w.projectId === record.projectId && w.noun === record.noun);
      if (isWanted || (isOpen && scope.openRecordsOf.includes(taskId ?? ''))) slice.records.load(record);
    }
    for (const id of scope.edges)
      for (const task of all)
        if (task.projectId === id && task.stage !== 'done') slice.loadEdges(task.id, task.dependsOn);
    return slice;
  }

  /** A slice that holds all there is, whatever a scope asks for. */
  loadAll(): Slice {
    const trees = [...this.evidence.values()].map(({ projectId, tree }) => ({ projectId, tree }));
    const [projects, tasks, workers] = [this.projects, this.tasks, this.workers].map((rows) => [...rows.keys()]);
    const roles: Role[] = ['builder', 'reviewer', 'verifier', 'merger'];
    return this.load({
      ...{
        projects: projects!,
        lockedProjects: [],
        scopedRunning: projects!,
        edges: projects!,
        openConflicts: projects!,
      },
      ...{ workers: workers!, leasedBy: workers!, tasks: tasks!, dependentsOf: tasks!, lastRunsOf: tasks! },
      ready: projects!.flatMap((projectId) => roles.map((role) => ({ projectId, role, limit: Number.MAX_VALUE }))),
      evidence: trees,
      ...{ records: [...this.records.keys()], readRecords: [], openRecordsOf: [], projectRecords: [] },
    });
  }

  ready(projectId: string, role: Role): Task[] {
    return [...this.tasks.values()]
      .filter((task) => task.projectId === projectId && task.role === role && isReady(task))
      .filter((task) => task.notBefore <= this.now)
      .sort((a, b) => compare(claimOrder(a), claimOrder(b)));
  }

  #save(slice: Slice): void {
    save(this.projects, slice.projects);
    save(this.tasks, slice.tasks);
    save(this.runs, slice.runs);
    save(this.workers, slice.workers);
    save(this.evidence, slice.evidence);
    save(this.records, slice.records);
  }
}

/** The rows that the events alone lead to, from nothing. */
export function replay(log: WorldEvent[]): Record<string, unknown[]> {
  const slice = new Slice();
  for (const { projectId, at, body } of log)
    reduce(slice, projectId, at, EventBody.parse(JSON.parse(JSON.stringify(body))));
  return rowsOf(slice);
}

export function rowsOf(from: Slice | CommandWorld): Record<string, unknown[]> {
  const { projects, tasks, runs, workers, evidence } = from;
  return {
    projects: [...projects.values()],
    tasks: [...tasks.values()].map((task) => Task.parse(task)),
    runs: [...runs.values()],
    workers: [...workers.values()],
    evidence: [...evidence.values()],
  };
}

function mergedScope(commands: Command[]): Scope {
  const merged = emptyScope();
  for (const command of commands)
    for (const [field, wanted] of Object.entries(scopeOf(command)))
      (merged[field as keyof Scope] as unknown[]).push(...wanted);
  return merged;
}

/** Good enough to tell texts apart, and needs nothing of any runtime. */
export function digest(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0');
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

type ChangedRows<T> = { changed: Map<string, T>; removed: Set<string> };

function save<T extends { id: string }>(rows: Map<string, T>, { changed, removed }: ChangedRows<T>): void {
  for (const row of changed.values()) rows.set(row.id, deepFreeze(row));
  for (const id of removed) rows.delete(id);
}

function loadRow<T>(rows: { load(row: T): void }, row: T | undefined): void {
  if (row) rows.load(row);
}

function compare(a: number[], b: number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
