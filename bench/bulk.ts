import { DatabaseSync } from 'node:sqlite';
import { EVENT_VERSION, type Task } from '@tidemill/contract';
import { taskColumns } from '../packages/daemon/src/store/task-columns.ts';

/**
 * Copies of a task, made inside the database: a million through the front door would take minutes. Of ten copies, six are
 * ready, three are done and one waits for the task before it; each has its `task.created` in the log.
 */
interface Shape {
  modulus: number[];
  task: Task;
}

export function shapesOf(template: Task, at: number): Shape[] {
  const done: Task = { ...template, stage: 'done', stageSince: at, role: null };
  const waiting: Task = { ...template, unmet: 1, dependsOn: [template.id] };
  return [
    { modulus: [0, 1, 2, 5, 6, 7], task: template },
    { modulus: [3, 4, 8], task: done },
    { modulus: [9], task: waiting },
  ];
}

const COLUMNS =
  'id, project_id, number, stage, ready_role, priority, rework, not_before, waiting, lease_worker, scoped';

/** The columns of a copy as SQL, `n` its number; documents get their own id and number by `document`. */
function copy({ task }: Shape, document: (doc: string) => string): string {
  const c = taskColumns(task);
  const text = (value: string | null) => (value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`);
  const columns = [
    ...["'task_bulk' || n", text(task.projectId), 'n', text(task.stage), text(c.ready_role)],
    ...[c.priority, c.rework, c.not_before, c.waiting, text(c.lease_worker), c.scoped],
  ];
  return `${columns.join(', ')}, NULL, ${document(text(JSON.stringify(task)))}`;
}

export function fillSqlite(file: string, template: Task, count: number): void {
  const db = new DatabaseSync(file, { timeout: 60_000 });
  const document = (doc: string) => `json_set(${doc}, '$.id', 'task_bulk' || n, '$.number', n)`;
  const numbers = (modulus: number[]) =>
    `WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
     SELECT n FROM numbers WHERE n % 10 IN (${modulus.join(', ')})`;
  db.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
  for (const shape of shapesOf(template, template.createdAt)) {
    db.exec(`INSERT INTO tasks (${COLUMNS}, last_run_id, doc)
      SELECT ${copy(shape, document)} FROM (${numbers(shape.modulus)})`);
  }
  db.exec(`INSERT INTO dependencies SELECT 'task_bulk' || n, '${template.id}' FROM (${numbers([9])})`);
  db.exec(`INSERT INTO events SELECT head.seq + n, project_id, 'task_bulk' || n, type, at, ${EVENT_VERSION}, body
    FROM (${numbers([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])}), (SELECT max(seq) AS seq FROM events) AS head,
      (SELECT * FROM events WHERE type = 'task.created' LIMIT 1)`);
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

/** The same for Postgres, as one text to run in the store's schema. */
export function fillPostgresText(template: Task, count: number): string {
  const document = (doc: string) => `(${doc}::jsonb || jsonb_build_object('id', 'task_bulk' || n, 'number', n))::json`;
  const numbers = (modulus: number[]) => `generate_series(2, ${count}) AS n WHERE n % 10 IN (${modulus.join(', ')})`;
  const tasks = shapesOf(template, template.createdAt).map(
    (shape) => `INSERT INTO tasks (${COLUMNS}, last_run_id, doc)
      SELECT ${copy(shape, document)} FROM ${numbers(shape.modulus)}`,
  );
  return [
    'BEGIN',
    ...tasks,
    `INSERT INTO dependencies SELECT 'task_bulk' || n, '${template.id}' FROM ${numbers([9])}`,
    `INSERT INTO events SELECT head.seq + n, project_id, 'task_bulk' || n, type, at, v, body
      FROM generate_series(2, ${count}) AS n, log_head AS head,
        (SELECT * FROM events WHERE type = 'task.created' LIMIT 1) AS first`,
    `UPDATE log_head SET seq = seq + ${count} + 1`,
    'COMMIT',
    'ANALYZE',
    'CHECKPOINT',
  ].join(';\n');
}
