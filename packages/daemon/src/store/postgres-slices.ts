import { EVENT_VERSION, type Task, taskIdOf } from '@tidemill/contract';
import { PROJECT_RECORDS, type Rows, type Scope } from '@tidemill/core';
import type { PendingEvent } from './driver.ts';
import { LoadedSlice, type RowMemo } from './loaded-slice.ts';
import type { JsonText, PreparedCall, Rowset, Value } from './postgres-pipeline.ts';
import { call, columnsOf, type StatementName } from './postgres-statements.ts';
import { recordValues, runValues } from './record-columns.ts';
import { taskColumns } from './task-columns.ts';

/** From here on one statement over arrays is quicker than one per row (measured). */
const MANY = 5;

interface Load {
  step: PreparedCall;
  /** Rows under a lock are the newest there are; they go into the slice before those that were merely read. */
  locked: boolean;
  take(rows: Rowset, loaded: LoadedSlice): void;
}

/** The statements that load a scope, in the order in which locks must be taken, and what to do with their answers. */
export function loadsOf(scope: Scope, now: number): Load[] {
  const loads: Load[] = [];
  const load = (locked: boolean, wanted: unknown[], step: () => PreparedCall, take: Load['take']) => {
    if (wanted.length > 0) loads.push({ step: step(), locked, take });
  };
  const s = scope;
  load(
    false,
    ['always'],
    () => call('load_projects', s.projects),
    (rows, to) => {
      for (const row of rows) if (row[0] !== null) to.project(doc(row));
    },
  );
  load(
    true,
    s.lockedProjects,
    () => call('lock_projects', s.lockedProjects),
    (rows, to) => {
      for (const row of rows) to.project(doc(row));
    },
  );
  load(
    true,
    s.workers,
    () => call('lock_workers', s.workers),
    (rows, to) => {
      for (const row of rows) to.worker(doc(row));
    },
  );
  load(
    false,
    s.leasedBy,
    () => call('load_leased_by', s.leasedBy),
    (rows, to) => {
      for (const row of rows) to.slice.loadLeasedBy(owner(row), to.readableTasks([doc(row)]));
    },
  );
  load(
    true,
    s.tasks,
    () => call('lock_tasks', s.tasks),
    (rows, to) => {
      for (const row of rows) to.task(doc(row));
    },
  );
  load(
    true,
    s.dependentsOf,
    () => call('lock_dependents', s.dependentsOf),
    (rows, to) => {
      for (const id of to.tasks(rows.map(doc)))
        for (const dependency of to.slice.tasks.get(id)?.dependsOn ?? []) to.slice.loadDependents(dependency, [id]);
    },
  );
  load(
    false,
    s.lastRunsOf,
    () => call('load_last_runs', s.lastRunsOf),
    (rows, to) => {
      for (const row of rows) to.run(doc(row));
    },
  );
  for (const { projectId, role, limit } of s.ready) {
    load(
      true,
      ['window'],
      () => call('lock_ready', projectId, role, now, limit),
      (rows, to) => {
        to.slice.loadReady(projectId, role, to.readableTasks(rows.map(doc)));
      },
    );
  }
  load(
    false,
    s.openConflicts,
    () => call('count_conflicts', s.openConflicts),
    (rows, to) => {
      for (const row of rows) to.slice.loadOpenConflicts(owner(row), Number(row[0]));
    },
  );
  load(
    false,
    s.scopedRunning,
    () => call('load_scoped_running', s.scopedRunning),
    (rows, to) => {
      const byProject = Map.groupBy(rows, owner);
      for (const [projectId, running] of byProject)
        to.slice.loadScopedRunning(projectId, to.readableTasks(running.map(doc)));
    },
  );
  load(
    false,
    s.evidence,
    () =>
      call(
        'load_evidence',
        s.evidence.map((e) => e.projectId),
        s.evidence.map((e) => e.tree),
      ),
    (rows, to) => {
      for (const row of rows) to.evidence(doc(row));
    },
  );
  load(
    false,
    s.edges,
    () => call('load_edges', s.edges),
    (rows, to) => {
      const byTask = Map.groupBy(rows, owner);
      for (const [taskId, of] of byTask)
        to.slice.loadEdges(
          taskId,
          of.map(([dependsOn]) => String(dependsOn)),
        );
    },
  );
  load(
    true,
    s.records,
    () => call('lock_records', s.records),
    (rows, to) => {
      for (const row of rows) to.record(doc(row));
    },
  );
  load(
    true,
    s.openRecordsOf,
    () => call('lock_open_records', s.openRecordsOf),
    (rows, to) => {
      for (const row of rows) to.record(doc(row));
    },
  );
  load(
    false,
    s.readRecords,
    () => call('load_records', s.readRecords),
    (rows, to) => {
      for (const row of rows) to.record(doc(row));
    },
  );
  for (const { projectId, noun } of s.projectRecords) {
    load(
      false,
      ['records'],
      () => call('load_project_records', projectId, noun, PROJECT_RECORDS),
      (rows, to) => {
        for (const row of rows) to.readableRecord(doc(row));
      },
    );
  }
  return loads;
}

export function fill(loads: Load[], answers: Rowset[], memo: RowMemo): LoadedSlice {
  const loaded = new LoadedSlice(memo);
  for (const locked of [true, false]) {
    loads.forEach((load, index) => {
      if (load.locked === locked) load.take(answers[index]!, loaded);
    });
  }
  return loaded;
}

/** What other processes are told of a commit. */
interface Notification {
  channel: string;
  payload: string;
}

/** The statements that save what changed; the one that appends to the log is the last. */
export function savesOf(loaded: LoadedSlice, events: PendingEvent[], notify: Notification): PreparedCall[] {
  return [...rowSavesOf(loaded), appendOf(events, notify)];
}

export function rowSavesOf(loaded: LoadedSlice): PreparedCall[] {
  const { projects, workers, tasks, runs, evidence, records } = loaded.slice;
  const steps: PreparedCall[] = [];
  const save = <T extends { id: string }>(
    noun: 'projects' | 'workers' | 'tasks' | 'runs',
    rows: Rows<T>,
    values: (row: T) => Values,
  ) => {
    const changed = [...rows.changed.values()];
    write(`insert_${noun}`, changed.filter((row) => !loaded.isStored(row.id)).map(values));
    write(`update_${noun}`, changed.filter((row) => loaded.isStored(row.id)).map(values));
  };
  const write = (name: StatementName, rows: Values[]) => {
    if (name === 'update_tasks' && rows.length < MANY) steps.push(...rows.map((row) => call('update_task', ...row)));
    else if (rows.length > 0) steps.push(call(name, ...columnsOf(rows)));
  };
  save('projects', projects, (row) => [row.id, row.root, json(row)]);
  save('workers', workers, (row) => [row.id, row.projectId, json(row)]);
  if (workers.removed.size > 0) steps.push(call('delete_workers', [...workers.removed]));
  save('tasks', tasks, taskValues);
  save('runs', runs, (row) => [...runValues(row), json(row)]);
  write(
    'save_records',
    [...records.changed.values()].map((row) => [...recordValues(row), json(row)]),
  );
  write(
    'insert_evidence',
    [...evidence.changed.values()].map((row) => [
      row.id,
      row.projectId,
      row.position,
      row.tree,
      row.taskId,
      row.hash,
      json(row),
    ]),
  );
  const depending = loaded.withNewDependencies();
  const stored = depending.filter((row) => loaded.isStored(row.id)).map((row) => row.id);
  if (stored.length > 0) steps.push(call('delete_dependencies', stored));
  write(
    'insert_dependencies',
    depending.flatMap((row) => [...new Set(row.dependsOn)].map((id) => [row.id, id])),
  );
  return steps;
}

type Values = Value[];

function appendOf(events: PendingEvent[], { channel, payload }: Notification): PreparedCall {
  const rows = events.map(
    ({ projectId, at, body }): Values => [projectId, taskIdOf(body), body.type, at, EVENT_VERSION, json(body)],
  );
  return call('append_events', channel, payload, rows.length, ...columnsOf(rows));
}

function taskValues(task: Task): Values {
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
    json(task),
  ];
}

function json(row: unknown): JsonText {
  return { json: JSON.stringify(row) };
}

/** Statements that load rows answer the document first, then whose it is. */
function doc(row: Rowset[number]): string {
  return String(row[0]);
}
function owner(row: Rowset[number]): string {
  return String(row[1]);
}
