import { EVENT_VERSION, type Task } from '@tidemill/contract';
import type { Rows, Scope } from '@tidemill/core';
import { type PendingEvent, taskOf } from './driver.ts';
import { LoadedSlice, type ProjectMemo } from './loaded-slice.ts';
import { call, callWithRows, type StatementName } from './postgres-statements.ts';
import type { Row } from './sql-query.ts';
import { taskColumns } from './task-columns.ts';

/** From here on one statement over arrays is quicker than one per row (measured). */
const MANY = 5;

interface Load {
  text: string;
  /** Rows under a lock are the newest there are; they go into the slice before those that were merely read. */
  locked: boolean;
  take(rows: Row[], loaded: LoadedSlice): void;
}

/** The statements that load a scope, in the order in which locks must be taken, and what to do with their answers. */
export function loadsOf(scope: Scope, now: number): Load[] {
  const loads: Load[] = [];
  const load = (locked: boolean, wanted: unknown[], text: () => string, take: Load['take']) => {
    if (wanted.length > 0) loads.push({ text: text(), locked, take });
  };
  const s = scope;
  load(
    false,
    ['always'],
    () => call('load_projects', s.projects),
    (rows, to) => {
      for (const row of rows) if (row.doc !== null) to.project(doc(row));
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
      for (const row of rows) to.slice.loadLeasedBy(String(row.owner), [to.task(doc(row))]);
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
      for (const row of rows) to.slice.loadDependents(String(row.owner), [to.task(doc(row))]);
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
        to.slice.loadReady(projectId, role, to.tasks(rows.map(doc)));
      },
    );
  }
  load(
    false,
    s.scopedRunning,
    () => call('load_scoped_running', s.scopedRunning),
    (rows, to) => {
      const byProject = Map.groupBy(rows, (row) => String(row.owner));
      for (const [projectId, running] of byProject) to.slice.loadScopedRunning(projectId, to.tasks(running.map(doc)));
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
      const byTask = Map.groupBy(rows, (row) => String(row.owner));
      for (const [taskId, of] of byTask)
        to.slice.loadEdges(
          taskId,
          of.map((row) => String(row.depends_on)),
        );
    },
  );
  return loads;
}

export function fill(loads: Load[], answers: Row[][], projects: ProjectMemo): LoadedSlice {
  const loaded = new LoadedSlice(projects);
  for (const locked of [true, false]) {
    loads.forEach((load, index) => {
      if (load.locked === locked) load.take(answers[index]!, loaded);
    });
  }
  return loaded;
}

/** The statements that save what changed; the one that appends to the log is the last. */
export function savesOf(loaded: LoadedSlice, events: PendingEvent[]): string[] {
  const { projects, workers, tasks, runs, evidence } = loaded.slice;
  const texts: string[] = [];
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
    if (name === 'update_tasks' && rows.length < MANY) texts.push(...rows.map((row) => call('update_task', ...row)));
    else if (rows.length > 0) texts.push(callWithRows(name, rows));
  };
  save('projects', projects, (row) => [row.id, row.root, JSON.stringify(row)]);
  save('workers', workers, (row) => [row.id, row.projectId, JSON.stringify(row)]);
  if (workers.removed.size > 0) texts.push(call('delete_workers', [...workers.removed]));
  save('tasks', tasks, taskValues);
  save('runs', runs, (row) => [row.id, row.taskId, JSON.stringify(row)]);
  write(
    'insert_evidence',
    [...evidence.changed.values()].map((row) => [
      row.id,
      row.projectId,
      row.position,
      row.tree,
      row.taskId,
      row.hash,
      JSON.stringify(row),
    ]),
  );
  const depending = loaded.withNewDependencies();
  const stored = depending.filter((row) => loaded.isStored(row.id)).map((row) => row.id);
  if (stored.length > 0) texts.push(call('delete_dependencies', stored));
  write(
    'insert_dependencies',
    depending.flatMap((row) => [...new Set(row.dependsOn)].map((id) => [row.id, id])),
  );
  texts.push(appendOf(events));
  return texts;
}

type Values = (string | number | null)[];

function appendOf(events: PendingEvent[]): string {
  const column = (value: (event: PendingEvent) => string | number | null) => events.map(value);
  return call(
    'append_events',
    events.length,
    column((event) => event.projectId),
    column((event) => taskOf(event.body)),
    column((event) => event.body.type),
    column((event) => event.at),
    column(() => EVENT_VERSION),
    column((event) => JSON.stringify(event.body)),
  );
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
    JSON.stringify(task),
  ];
}

function doc(row: Row): string {
  return String(row.doc);
}
