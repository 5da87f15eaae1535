import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { EVENT_VERSION, type Task, taskIdOf } from '@tidemill/contract';
import { PROJECT_RECORDS, type Scope } from '@tidemill/core';
import type { PendingEvent } from './driver.ts';
import { LoadedSlice, RowMemo } from './loaded-slice.ts';
import { RECORD_COLUMNS, RUN_COLUMNS, recordValues, runValues } from './record-columns.ts';
import { FINISHED_STAGES, taskColumns } from './task-columns.ts';

/** Loads and saves slices. Every statement is compiled once, here. */
export class SqliteSlices {
  readonly #one: Record<'project' | 'worker' | 'task' | 'lastRun' | 'record', StatementSync>;
  readonly #many: Record<
    'leasedBy' | 'dependents' | 'ready' | 'scopedRunning' | 'evidence' | 'edges' | 'openRecordsOf' | 'projectRecords',
    StatementSync
  >;
  readonly #save: Record<
    'project' | 'worker' | 'run' | 'evidence' | 'task' | 'dependency' | 'event' | 'record',
    StatementSync
  >;
  readonly #delete: Record<'worker' | 'dependencies', StatementSync>;
  readonly #head: StatementSync;
  readonly #conflicts: StatementSync;
  readonly #memo = new RowMemo();

  constructor(db: DatabaseSync) {
    this.#one = {
      project: db.prepare('SELECT doc FROM projects WHERE id = ?'),
      worker: db.prepare('SELECT doc FROM workers WHERE id = ?'),
      task: db.prepare('SELECT doc FROM tasks WHERE id = ?'),
      record: db.prepare('SELECT doc FROM records WHERE id = ?'),
      lastRun: db.prepare('SELECT runs.doc FROM tasks JOIN runs ON runs.id = tasks.last_run_id WHERE tasks.id = ?'),
    };
    this.#many = {
      leasedBy: db.prepare('SELECT doc FROM tasks WHERE lease_worker = ?'),
      dependents: db.prepare(
        `SELECT tasks.doc FROM dependencies JOIN tasks ON tasks.id = dependencies.task_id
         WHERE dependencies.depends_on = ?`,
      ),
      ready: db.prepare(
        `SELECT doc FROM tasks INDEXED BY tasks_ready
         WHERE project_id = ? AND ready_role = ? AND ready_role IS NOT NULL AND not_before <= ?
         ORDER BY priority, rework, number LIMIT ?`,
      ),
      scopedRunning: db.prepare(
        `SELECT doc FROM tasks INDEXED BY tasks_leased
         WHERE project_id = ? AND scoped = 1 AND lease_worker IS NOT NULL`,
      ),
      evidence: db.prepare('SELECT doc FROM evidence WHERE project_id = ? AND tree = ? ORDER BY position'),
      openRecordsOf: db.prepare('SELECT doc FROM records WHERE task_id = ? AND is_open = 1 ORDER BY id'),
      projectRecords: db.prepare('SELECT doc FROM records WHERE project_id = ? AND noun = ? ORDER BY id DESC LIMIT ?'),
      edges: db.prepare(
        `SELECT task_id, depends_on FROM tasks JOIN dependencies ON dependencies.task_id = tasks.id
         WHERE project_id = ? AND stage NOT IN (${FINISHED_STAGES.map((stage) => `'${stage}'`).join(', ')})`,
      ),
    };
    this.#save = {
      project: db.prepare(upsert('projects', ['id', 'root', 'doc'])),
      worker: db.prepare(upsert('workers', ['id', 'project_id', 'doc'])),
      run: db.prepare(upsert('runs', RUN_COLUMNS)),
      record: db.prepare(upsert('records', RECORD_COLUMNS)),
      evidence: db.prepare(insert('evidence', ['id', 'project_id', 'position', 'tree', 'task_id', 'hash', 'doc'])),
      task: db.prepare(upsert('tasks', TASK_COLUMNS)),
      dependency: db.prepare(insert('dependencies', ['task_id', 'depends_on'])),
      event: db.prepare(insert('events', ['seq', 'project_id', 'task_id', 'type', 'at', 'v', 'body'])),
    };
    this.#delete = {
      worker: db.prepare('DELETE FROM workers WHERE id = ?'),
      dependencies: db.prepare('DELETE FROM dependencies WHERE task_id = ?'),
    };
    this.#conflicts = db.prepare(
      'SELECT count(*) AS n FROM tasks INDEXED BY tasks_conflicting WHERE project_id = ? AND conflicting = 1',
    );
    this.#head = db.prepare('SELECT max(seq) AS seq FROM events');
  }

  load(scope: Scope, now: number): LoadedSlice {
    const loaded = new LoadedSlice(this.#memo);
    const { slice } = loaded;
    for (const id of [...scope.projects, ...scope.lockedProjects])
      one(this.#one.project, id, (doc) => loaded.project(doc));
    for (const id of scope.workers) one(this.#one.worker, id, (doc) => loaded.worker(doc));
    for (const id of scope.tasks) one(this.#one.task, id, (doc) => loaded.task(doc));
    for (const id of scope.lastRunsOf) one(this.#one.lastRun, id, (doc) => loaded.run(doc));
    for (const id of scope.leasedBy) slice.loadLeasedBy(id, loaded.readableTasks(docs(this.#many.leasedBy, id)));
    for (const id of scope.dependentsOf) slice.loadDependents(id, loaded.tasks(docs(this.#many.dependents, id)));
    for (const { projectId, role, limit } of scope.ready) {
      slice.loadReady(projectId, role, loaded.readableTasks(docs(this.#many.ready, projectId, role, now, limit)));
    }
    for (const id of scope.openConflicts) slice.loadOpenConflicts(id, Number(this.#conflicts.get(id)?.n ?? 0));
    for (const id of scope.scopedRunning) {
      slice.loadScopedRunning(id, loaded.readableTasks(docs(this.#many.scopedRunning, id)));
    }
    for (const { projectId, tree } of scope.evidence) {
      for (const doc of docs(this.#many.evidence, projectId, tree)) loaded.evidence(doc);
    }
    for (const id of [...scope.records, ...scope.readRecords]) one(this.#one.record, id, (doc) => loaded.record(doc));
    for (const id of scope.openRecordsOf) for (const doc of docs(this.#many.openRecordsOf, id)) loaded.record(doc);
    for (const { projectId, noun } of scope.projectRecords)
      for (const doc of docs(this.#many.projectRecords, projectId, noun, PROJECT_RECORDS)) loaded.readableRecord(doc);
    for (const id of scope.edges) loadEdges(loaded, this.#many.edges.all(id));
    return loaded;
  }

  /** Answers the number of the last event before these. */
  save(loaded: LoadedSlice, events: PendingEvent[]): number {
    const { projects, workers, runs, evidence, tasks, records } = loaded.slice;
    for (const row of projects.changed.values()) this.#save.project.run(row.id, row.root, JSON.stringify(row));
    for (const row of workers.changed.values()) this.#save.worker.run(row.id, row.projectId, JSON.stringify(row));
    for (const id of workers.removed) this.#delete.worker.run(id);
    for (const row of tasks.changed.values()) this.#save.task.run(...taskValues(row));
    for (const row of runs.changed.values()) this.#save.run.run(...runValues(row), JSON.stringify(row));
    for (const row of records.changed.values()) this.#save.record.run(...recordValues(row), JSON.stringify(row));
    for (const row of evidence.changed.values()) {
      const { id, projectId, position, tree, taskId, hash } = row;
      this.#save.evidence.run(id, projectId, position, tree, taskId, hash, JSON.stringify(row));
    }
    for (const row of loaded.withNewDependencies()) {
      this.#delete.dependencies.run(row.id);
      for (const dependency of new Set(row.dependsOn)) this.#save.dependency.run(row.id, dependency);
    }
    return this.#append(events);
  }

  #append(events: PendingEvent[]): number {
    const before = Number(this.#head.get()?.seq ?? 0);
    events.forEach(({ projectId, at, body }, index) => {
      const seq = before + 1 + index;
      this.#save.event.run(seq, projectId, taskIdOf(body), body.type, at, EVENT_VERSION, JSON.stringify(body));
    });
    return before;
  }
}

const TASK_COLUMNS = [
  'id',
  'project_id',
  'number',
  'stage',
  'ready_role',
  'priority',
  'rework',
  'not_before',
  'waiting',
  'lease_worker',
  'scoped',
  'last_run_id',
  'title_key',
  'conflicting',
  'doc',
];

function taskValues(task: Task): SQLInputValue[] {
  const c = taskColumns(task);
  return [
    task.id,
    task.projectId,
    task.number,
    task.stage,
    c.ready_role,
    c.priority,
    c.rework,
    c.not_before,
    c.waiting,
    c.lease_worker,
    c.scoped,
    c.last_run_id,
    c.title_key,
    c.conflicting,
    JSON.stringify(task),
  ];
}

function insert(table: string, columns: string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

function upsert(table: string, columns: string[]): string {
  const sets = columns.slice(1).map((column) => `${column} = excluded.${column}`);
  return `${insert(table, columns)} ON CONFLICT (id) DO UPDATE SET ${sets.join(', ')}`;
}

function one(statement: StatementSync, id: string, take: (text: string) => void): void {
  const row = statement.get(id);
  if (row) take(String(row.doc));
}

function docs(statement: StatementSync, ...values: SQLInputValue[]): string[] {
  return statement.all(...values).map((row) => String(row.doc));
}

function loadEdges(loaded: LoadedSlice, rows: Record<string, unknown>[]): void {
  const edges = Map.groupBy(rows, (row) => String(row.task_id));
  for (const [taskId, of] of edges)
    loaded.slice.loadEdges(
      taskId,
      of.map((row) => String(row.depends_on)),
    );
}
