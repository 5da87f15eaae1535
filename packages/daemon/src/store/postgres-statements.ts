import { encode, type PreparedCall, type Value } from './postgres-pipeline.ts';
import { FINISHED_STAGES } from './task-columns.ts';

type Columns = Record<string, string>;

const PROJECT: Columns = { id: 'text', root: 'text', doc: 'json' };
const WORKER: Columns = { id: 'text', project_id: 'text', doc: 'json' };
const RUN: Columns = { id: 'text', task_id: 'text', project_id: 'text', ended_at: 'bigint', doc: 'json' };
const RECORD: Columns = {
  id: 'text',
  noun: 'text',
  project_id: 'text',
  task_id: 'text',
  is_open: 'smallint',
  due_at: 'bigint',
  doc: 'json',
};
const DEPENDENCY: Columns = { task_id: 'text', depends_on: 'text' };
const EVIDENCE: Columns = {
  id: 'text',
  project_id: 'text',
  position: 'integer',
  tree: 'text',
  task_id: 'text',
  hash: 'text',
  doc: 'json',
};
const EVENT: Columns = {
  project_id: 'text',
  task_id: 'text',
  type: 'text',
  at: 'bigint',
  v: 'smallint',
  body: 'json',
};
const TASK: Columns = {
  id: 'text',
  project_id: 'text',
  number: 'integer',
  stage: 'text',
  ready_role: 'text',
  priority: 'smallint',
  rework: 'smallint',
  not_before: 'bigint',
  waiting: 'smallint',
  lease_worker: 'text',
  scoped: 'smallint',
  last_run_id: 'text',
  title_key: 'text',
  conflicting: 'smallint',
  doc: 'json',
};

/** Prepared when a session begins, so that a batch is two round trips (see postgres-pipeline.ts) and no planning. */
const STATEMENTS = {
  // The transaction's id tells, should the answer to the COMMIT get lost, whether it took place (see postgres.ts).
  load_projects: `(text[]) AS SELECT projects.doc, pg_current_xact_id()
    FROM (VALUES (1)) AS always LEFT JOIN projects ON projects.id = ANY ($1)`,
  lock_projects: '(text[]) AS SELECT doc FROM projects WHERE id = ANY ($1) ORDER BY id FOR UPDATE',
  lock_workers: '(text[]) AS SELECT doc FROM workers WHERE id = ANY ($1) ORDER BY id FOR UPDATE',
  load_leased_by: `(text[]) AS SELECT doc, lease_worker FROM tasks
    WHERE lease_worker = ANY ($1) AND lease_worker IS NOT NULL`,
  lock_tasks: '(text[]) AS SELECT doc FROM tasks WHERE id = ANY ($1) ORDER BY id FOR UPDATE',
  // Found first, then locked in the order of their ids: as one join, ids in order would cost a walk over every edge.
  lock_dependents: `(text[]) AS SELECT doc FROM tasks
    WHERE id = ANY (ARRAY(SELECT task_id FROM dependencies WHERE depends_on = ANY ($1))) ORDER BY id FOR UPDATE`,
  load_last_runs: `(text[]) AS SELECT runs.doc FROM tasks JOIN runs ON runs.id = tasks.last_run_id
    WHERE tasks.id = ANY ($1)`,
  // The sum keeps the moment out of the index scan, which would compare it for a page of candidates, not for a few.
  lock_ready: `(text, text, bigint, integer) AS SELECT doc FROM tasks
    WHERE project_id = $1 AND ready_role = $2 AND not_before + 0 <= $3
    ORDER BY priority, rework, number LIMIT $4 FOR UPDATE SKIP LOCKED`,
  count_conflicts: `(text[]) AS SELECT count(*), project_id FROM tasks
    WHERE project_id = ANY ($1) AND conflicting = 1 GROUP BY project_id`,
  load_scoped_running: `(text[]) AS SELECT doc, project_id FROM tasks
    WHERE project_id = ANY ($1) AND scoped = 1 AND lease_worker IS NOT NULL`,
  load_evidence: `(text[], text[]) AS SELECT evidence.doc FROM unnest($1, $2) AS wanted (project_id, tree)
    JOIN evidence USING (project_id, tree) ORDER BY evidence.position`,
  load_edges: `(text[]) AS SELECT depends_on, task_id FROM tasks JOIN dependencies ON task_id = tasks.id
    WHERE project_id = ANY ($1) AND stage NOT IN (${FINISHED_STAGES.map((stage) => `'${stage}'`).join(', ')})`,

  lock_records: '(text[]) AS SELECT doc FROM records WHERE id = ANY ($1) ORDER BY id FOR UPDATE',
  lock_open_records: `(text[]) AS SELECT doc FROM records
    WHERE task_id = ANY ($1) AND task_id IS NOT NULL AND is_open = 1 ORDER BY id FOR UPDATE`,
  load_records: '(text[]) AS SELECT doc FROM records WHERE id = ANY ($1)',
  load_project_records: `(text, text, integer) AS SELECT doc FROM records
    WHERE project_id = $1 AND noun = $2 ORDER BY id DESC LIMIT $3`,

  insert_projects: inserting('projects', PROJECT),
  update_projects: updating('projects', PROJECT),
  insert_workers: inserting('workers', WORKER),
  update_workers: updating('workers', WORKER),
  delete_workers: '(text[]) AS DELETE FROM workers WHERE id = ANY ($1)',
  insert_tasks: inserting('tasks', TASK),
  update_tasks: updating('tasks', TASK),
  update_task: updatingOne('tasks', TASK),
  delete_dependencies: '(text[]) AS DELETE FROM dependencies WHERE task_id = ANY ($1)',
  insert_dependencies: inserting('dependencies', DEPENDENCY),
  insert_runs: inserting('runs', RUN),
  update_runs: updating('runs', RUN),
  save_records: `${inserting('records', RECORD)} ON CONFLICT (id) DO UPDATE SET
    task_id = excluded.task_id, is_open = excluded.is_open, due_at = excluded.due_at, doc = excluded.doc`,
  insert_evidence: inserting('evidence', EVIDENCE),
  // The head's lock is the last one taken and is held over the commit, so events become visible in the order of seq.
  append_events: `(text, text, integer, ${lists(EVENT)}) AS
    WITH head AS (UPDATE log_head SET seq = seq + $3 RETURNING seq - $3 AS before),
    appended AS (INSERT INTO events (seq, ${names(EVENT)})
      SELECT head.before + e.place, e.project_id, e.task_id, e.type, e.at, e.v, e.body
      FROM head, ${rowsOf(EVENT, 3)} WITH ORDINALITY AS e (${names(EVENT)}, place))
    SELECT before, pg_notify($1, $2) FROM head`,
};
export type StatementName = keyof typeof STATEMENTS;

/** One by one: with each use the server copies the whole text that a statement was prepared in. */
export const PREPARATIONS = Object.entries(STATEMENTS).map(([name, text]) => `PREPARE ${name} ${text}`);

function inserting(table: string, columns: Columns): string {
  return `(${lists(columns)}) AS INSERT INTO ${table} (${names(columns)})
    SELECT * FROM ${rowsOf(columns)}`;
}

function updating(table: string, columns: Columns): string {
  const sets = Object.keys(columns).slice(1);
  return `(${lists(columns)}) AS UPDATE ${table} SET ${sets.map((name) => `${name} = new.${name}`).join(', ')}
    FROM ${rowsOf(columns)} AS new (${names(columns)}) WHERE ${table}.id = new.id`;
}

/** Half the cost of `updating` for one row, more for many: see MANY in postgres-slices.ts. */
function updatingOne(table: string, columns: Columns): string {
  const sets = Object.keys(columns).map((name, index) => `${name} = $${index + 1}`);
  return `(${Object.values(columns).join(', ')}) AS UPDATE ${table} SET ${sets.slice(1).join(', ')} WHERE id = $1`;
}

function names(columns: Columns): string {
  return Object.keys(columns).join(', ');
}

function lists(columns: Columns): string {
  return Object.values(columns)
    .map((type) => (type === 'json' ? type : `${type}[]`))
    .join(', ');
}

function rowsOf(columns: Columns, after = 0): string {
  const lists = Object.values(columns).map((type, index) => {
    const list = `$${after + index + 1}`;
    return type === 'json' ? `json_array_elements(${list})` : `unnest(${list})`;
  });
  return `ROWS FROM (${lists.join(', ')})`;
}

export function call(name: StatementName, ...args: (Value | Value[])[]): PreparedCall {
  return { name, values: args.map(encode) };
}

/** Rows as one list per column, in the order of the statement's parameters. */
export function columnsOf(rows: Value[][]): Value[][] {
  return rows[0]!.map((_, column) => rows.map((row) => row[column]!));
}
