import { declared, LOOKUPS, type LookupName, TABLES, type TableName } from '@tidemill/core';
import { encode, type PreparedCall, type Value } from './postgres-pipeline.ts';

type Columns = Record<string, string>;

/** The columns of a table with their types; the document is the last. */
const columnsOfTable = (table: TableName): Columns => ({
  ...Object.fromEntries(Object.entries(TABLES[table]).map(([name, { type }]) => [name, type])),
  doc: 'json',
});
const DEPENDENCY: Columns = { task_id: 'text', depends_on: 'text' };
const WORDS: Columns = { id: 'text', noun: 'text', project_id: 'text', words: 'text', search: 'text', tags: 'text' };
const EVENT: Columns = {
  project_id: 'text',
  subject_id: 'text',
  type: 'text',
  at: 'bigint',
  v: 'smallint',
  body: 'json',
};

/** The statement of a lookup; rows carry their document. Several arguments at once are lists. */
function finding(find: LookupName): string {
  const { kind, table, where, fixed = {}, present, due, order = [], lock } = declared(find);
  // If the reply to COMMIT is lost, the transaction's id shows whether it took place (see postgres.ts).
  if (find === 'project')
    return `(text[]) AS SELECT projects.doc, pg_current_xact_id()
      FROM (VALUES (1)) AS always LEFT JOIN projects ON projects.id = ANY ($1)`;
  if (kind === 'lastRun')
    return `(text[]) AS SELECT runs.doc FROM tasks JOIN runs ON runs.id = tasks.last_run_id WHERE tasks.id = ANY ($1)`;
  if (kind === 'edges')
    return `(text[]) AS SELECT depends_on, task_id FROM tasks JOIN dependencies ON task_id = tasks.id
      WHERE project_id = ANY ($1) AND stage <> 'done'`;
  // Found first, then locked in the order of their ids: one sorted join would read every edge.
  if (where[0] === 'depends_on')
    return `(text[]) AS SELECT doc FROM tasks
      WHERE id = ANY (ARRAY(SELECT task_id FROM dependencies WHERE depends_on = ANY ($1))) ORDER BY id FOR UPDATE`;
  const conditions = [
    ...Object.entries(fixed).map(([column, value]) => `${column} = ${Number(value)}`),
    ...(present === undefined ? [] : [`${present} IS NOT NULL`]),
  ];
  const locking = { none: '', wait: ' FOR UPDATE', skip: ' FOR UPDATE SKIP LOCKED' }[lock];
  if (kind === 'window') {
    const compared = where.map((column, index) => `${column} = $${index + 1}`);
    // The sum keeps the time out of the index scan, which would compare it for a page of candidates, not for a few.
    if (due !== undefined) compared.push(`${due} + 0 <= $${where.length + 1}`);
    const types = [...where.map(() => 'text'), ...(due === undefined ? [] : ['bigint']), 'integer'];
    const sorted = order.map((column) => (column.startsWith('-') ? `${column.slice(1)} DESC` : column)).join(', ');
    return `(${types.join(', ')}) AS SELECT doc FROM ${table} WHERE ${[...compared, ...conditions].join(' AND ')}
      ORDER BY ${sorted} LIMIT $${types.length}${locking}`;
  }
  if (kind === 'count')
    return `(text[]) AS SELECT count(*), ${where[0]} FROM ${table}
      WHERE ${[`${where[0]} = ANY ($1)`, ...conditions].join(' AND ')} GROUP BY ${where[0]}`;
  const sorted = lock === 'wait' ? ' ORDER BY id' : order.length > 0 ? ` ORDER BY ${order.join(', ')}` : '';
  if (where.length === 1)
    return `(text[]) AS SELECT doc FROM ${table}
      WHERE ${[`${where[0]} = ANY ($1)`, ...conditions].join(' AND ')}${sorted}${locking}`;
  const lists = where.map((_, index) => `$${index + 1}`).join(', ');
  return `(${where.map(() => 'text[]').join(', ')}) AS SELECT doc
    FROM unnest(${lists}) AS wanted (${where.join(', ')}) JOIN ${table} USING (${where.join(', ')})${sorted}`;
}

const FINDING = Object.fromEntries(
  (Object.keys(LOOKUPS) as LookupName[]).map((find) => [`find_${find}`, finding(find)]),
) as Record<`find_${LookupName}`, string>;

/** Prepared when a session begins, so that a batch is two round trips (see postgres-pipeline.ts) and no planning. */
const STATEMENTS = {
  ...FINDING,
  insert_projects: inserting('projects', columnsOfTable('projects')),
  update_projects: updating('projects', columnsOfTable('projects')),
  insert_workers: inserting('workers', columnsOfTable('workers')),
  update_workers: updating('workers', columnsOfTable('workers')),
  delete_workers: '(text[]) AS DELETE FROM workers WHERE id = ANY ($1)',
  insert_tasks: inserting('tasks', columnsOfTable('tasks')),
  update_tasks: updating('tasks', columnsOfTable('tasks')),
  update_task: updatingOne('tasks', columnsOfTable('tasks')),
  delete_dependencies: '(text[]) AS DELETE FROM dependencies WHERE task_id = ANY ($1)',
  insert_dependencies: inserting('dependencies', DEPENDENCY),
  insert_runs: inserting('runs', columnsOfTable('runs')),
  update_runs: updating('runs', columnsOfTable('runs')),
  insert_records: inserting('records', columnsOfTable('records')),
  save_records: `${inserting('records', columnsOfTable('records'))} ON CONFLICT (id) DO UPDATE SET
    parent = excluded.parent, is_open = excluded.is_open, due_at = excluded.due_at, doc = excluded.doc`,
  save_record_words: `(${lists(WORDS)}) AS INSERT INTO record_words (${names(WORDS)})
    SELECT id, noun, project_id, words, array_to_tsvector(string_to_array(search, ' ')), string_to_array(tags, ' ')
    FROM ${rowsOf(WORDS)} AS new (${names(WORDS)})
    ON CONFLICT (id) DO UPDATE SET words = excluded.words, search = excluded.search, tags = excluded.tags`,
  insert_evidence: inserting('evidence', columnsOfTable('evidence')),
  // The head's lock is taken last and held until the commit, so events become visible in the order of seq.
  append_events: `(text, text, integer, ${lists(EVENT)}) AS
    WITH head AS (UPDATE log_head SET seq = seq + $3 RETURNING seq - $3 AS before),
    appended AS (INSERT INTO events (seq, ${names(EVENT)})
      SELECT head.before + e.place, e.project_id, e.subject_id, e.type, e.at, e.v, e.body
      FROM head, ${rowsOf(EVENT, 3)} WITH ORDINALITY AS e (${names(EVENT)}, place))
    SELECT before, pg_notify($1, $2) FROM head`,
};
export type StatementName = keyof typeof STATEMENTS;

/** One by one: on each use the server copies the whole text in which a statement was prepared. */
export const PREPARATIONS = Object.entries(STATEMENTS).map(([name, text]) => `PREPARE "${name}" ${text}`);

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
