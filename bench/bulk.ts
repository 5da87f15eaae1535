import { DatabaseSync } from 'node:sqlite';
import { EVENT_VERSION, type Task } from '@tidemill/contract';
import { TABLES } from '@tidemill/core';

/**
 * Copies of a task, made inside the database: a million through the front door would take minutes. Of ten copies, six are
 * ready, three are done and one waits for the last of them; each has its `task.created` in the log.
 */
interface Shape {
  modulus: number[];
  task: Task;
}

function shapesOf(template: Task, count: number): Shape[] {
  const done: Task = { ...template, stage: 'done', role: null };
  const waiting: Task = { ...template, unmet: 1, dependsOn: [`task_bulk${count}`] };
  return [
    { modulus: [0, 1, 2, 5, 6, 7], task: template },
    { modulus: [3, 4, 8], task: done },
    { modulus: [9], task: waiting },
  ];
}

const COLUMNS = [...Object.keys(TABLES.tasks), 'doc'].join(', ');

const quoted = (value: string) => `'${value.replaceAll("'", "''")}'`;
const ID_AND_NUMBER = /"id":"task_copy"|"number":-1/g;

/** The copy's document as SQL text: the template's, its id and number replaced by those of copy `n`. */
function documentOf(task: Task): string {
  const text = JSON.stringify({ ...task, id: 'task_copy', number: -1 });
  const parts = text.split(ID_AND_NUMBER).map(quoted);
  return `(${parts[0]} || '"id":"task_bulk' || n || '"' || ${parts[1]} || '"number":' || n || ${parts[2]})`;
}

/** A copy's columns as SQL, `n` its number. */
function copyOf(task: Task, documentType: string): string {
  const value = (of: (task: Task) => string | number | null) => {
    const found = of(task);
    return found === null ? 'NULL' : typeof found === 'number' ? String(found) : quoted(found);
  };
  const own: Record<string, string> = { id: "'task_bulk' || n", number: 'n', last_run_id: 'NULL' };
  const columns = Object.entries(TABLES.tasks).map(([name, { of }]) => own[name] ?? value(of));
  return [...columns, `CAST(${documentOf(task)} AS ${documentType})`].join(', ');
}

export function fillSqlite(file: string, template: Task, count: number): void {
  const db = new DatabaseSync(file, { timeout: 60_000 });
  const numbers = (modulus: number[]) =>
    `WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
     SELECT n FROM numbers WHERE n % 10 IN (${modulus.join(', ')})`;
  db.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
  for (const { modulus, task } of shapesOf(template, count)) {
    db.exec(`INSERT INTO tasks (${COLUMNS})
      SELECT ${copyOf(task, 'TEXT')} FROM (${numbers(modulus)})`);
  }
  db.exec(`INSERT INTO dependencies SELECT 'task_bulk' || n, 'task_bulk${count}' FROM (${numbers([9])})`);
  db.exec(`INSERT INTO events SELECT head.seq + n, project_id, 'task_bulk' || n, type, at, ${EVENT_VERSION}, body
    FROM (${numbers([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])}), (SELECT max(seq) AS seq FROM events) AS head,
      (SELECT * FROM events WHERE type = 'task.created' LIMIT 1)`);
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

/** The same for Postgres, as one text to run in the store's schema. */
export function fillPostgresText(template: Task, count: number): string {
  const numbers = (modulus: number[]) => `generate_series(2, ${count}) AS n WHERE n % 10 IN (${modulus.join(', ')})`;
  const tasks = shapesOf(template, count).map(
    ({ modulus, task }) => `INSERT INTO tasks (${COLUMNS})
      SELECT ${copyOf(task, 'json')} FROM ${numbers(modulus)}`,
  );
  return [
    'BEGIN',
    ...tasks,
    `INSERT INTO dependencies SELECT 'task_bulk' || n, 'task_bulk${count}' FROM ${numbers([9])}`,
    `INSERT INTO events SELECT head.seq + n, project_id, 'task_bulk' || n, type, at, v, body
      FROM generate_series(2, ${count}) AS n, log_head AS head,
        (SELECT * FROM events WHERE type = 'task.created' LIMIT 1) AS first`,
    `UPDATE log_head SET seq = seq + ${count} + 1`,
    'COMMIT',
    'ANALYZE',
    'CHECKPOINT',
  ].join(';\n');
}
