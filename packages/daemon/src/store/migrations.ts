/**
 * The schema's history. A released step is never edited: a change is a new step at the end, in both dialects.
 * Rows are documents (`doc`, `body`) with the columns that queries need beside them. A new field of a noun gets a
 * default in its zod schema and needs no step. A new column needs one, which fills it from the documents.
 */
export interface Migration {
  version: number;
  sqlite: string;
  postgres: string;
}

const indexes = `
CREATE UNIQUE INDEX tasks_number ON tasks (project_id, number);
CREATE INDEX tasks_stage ON tasks (project_id, stage);
CREATE INDEX tasks_ready ON tasks (project_id, ready_role, priority, rework, number, not_before, waiting)
  WHERE ready_role IS NOT NULL;
CREATE INDEX tasks_backoff ON tasks (project_id, not_before) WHERE ready_role IS NOT NULL AND not_before > 0;
CREATE INDEX tasks_lease ON tasks (lease_worker) WHERE lease_worker IS NOT NULL;
CREATE INDEX tasks_leased ON tasks (project_id, scoped) WHERE lease_worker IS NOT NULL;
CREATE INDEX dependencies_dependents ON dependencies (depends_on, task_id);
CREATE INDEX runs_task ON runs (task_id, id);
CREATE INDEX workers_project ON workers (project_id, id);
CREATE UNIQUE INDEX evidence_position ON evidence (project_id, position);
CREATE INDEX evidence_tree ON evidence (project_id, tree, position);
CREATE INDEX evidence_task ON evidence (task_id, position);
CREATE INDEX events_task ON events (task_id, seq) WHERE task_id IS NOT NULL;
`;

const recordIndexes = `
CREATE INDEX records_noun ON records (project_id, noun, is_open, id);
CREATE INDEX records_task ON records (task_id, id) WHERE task_id IS NOT NULL AND is_open = 1;
CREATE INDEX records_due ON records (noun, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX runs_ended ON runs (project_id, ended_at) WHERE ended_at IS NOT NULL;
`;

/** It contains the type, so that a search for a rare type reads no bodies. */
const logIndexes = `
CREATE INDEX events_project ON events (project_id, seq, type);
`;

/** Searches the documents' text, because Postgres cannot extract fields from a document with \\u0000. */
const conflicts = `
UPDATE tasks SET conflicting = 1 WHERE stage = 'blocked' AND doc LIKE '%"blocked":{"reason":"conflict"%';
CREATE INDEX tasks_conflicting ON tasks (project_id) WHERE conflicting = 1;
`;

/** Everything that lists and searches need of a task, so that only the documents of matches are read. */
const listIndexes = `
CREATE INDEX tasks_list ON tasks (project_id, number, stage, title_key, id);
CREATE INDEX records_of_task ON records (task_id, noun, id) WHERE task_id IS NOT NULL;
`;

/** All that figures need of a run, so that a month of runs is read without documents. */
const figureIndex = `
CREATE INDEX runs_figures ON runs (
  project_id, ended_at, id, task_id, doc->>'workerId', doc->>'mode', doc->>'agent', doc->>'attempt', doc->>'outcome',
  doc->>'failure', doc->>'startedAt', doc->'usage'->>'costUsd'
) WHERE ended_at IS NOT NULL;
`;

const recordParents = `
ALTER TABLE records RENAME COLUMN task_id TO parent;
UPDATE records SET parent = project_id WHERE parent IS NULL;
`;

/** Runs and events belong to a subject: a task, or what a job is about. */
const subjects = `
ALTER TABLE runs RENAME COLUMN task_id TO subject_id;
ALTER TABLE events RENAME COLUMN task_id TO subject_id;
CREATE INDEX runs_job ON runs (job_id) WHERE job_id IS NOT NULL;
`;

/** What housekeeping removed from the log: a gap that it did not make is a fault. */
const removedEvents = 'CREATE TABLE log_removed (events bigint NOT NULL, seqs bigint NOT NULL)';

const snakeCaseNouns = [
  ['guardProposal', 'guard_proposal'],
  ['trackerItem', 'tracker_item'],
  ['lessonUse', 'lesson_use'],
]
  .map(([earlier, noun]) => `UPDATE records SET noun = '${noun}' WHERE noun = '${earlier}';`)
  .join('\n');

/** The words of a record, each once and separated by blanks, for ranking. Its place grows with each new record. */
const recordWords = 'CREATE INDEX record_words_project ON record_words (project_id, noun, place);';

/** Reviews are taken in the order in which their builds ended. */
const reviewOrder = `
DROP INDEX tasks_ready;
CREATE INDEX tasks_ready ON tasks (project_id, ready_role, priority, rework, built_at, number, not_before, waiting)
  WHERE ready_role IS NOT NULL;
`;

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sqlite: `
CREATE TABLE projects (id TEXT PRIMARY KEY, root TEXT NOT NULL UNIQUE, doc TEXT NOT NULL) STRICT;
CREATE TABLE tasks (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, number INTEGER NOT NULL, stage TEXT NOT NULL,
  ready_role TEXT, priority INTEGER NOT NULL, rework INTEGER NOT NULL, not_before INTEGER NOT NULL,
  waiting INTEGER NOT NULL, lease_worker TEXT, scoped INTEGER NOT NULL, last_run_id TEXT, doc TEXT NOT NULL
) STRICT;
CREATE TABLE dependencies (
  task_id TEXT NOT NULL, depends_on TEXT NOT NULL, PRIMARY KEY (task_id, depends_on)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (id TEXT PRIMARY KEY, task_id TEXT NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE workers (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE evidence (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, position INTEGER NOT NULL, tree TEXT NOT NULL,
  task_id TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, doc TEXT NOT NULL
) STRICT;
CREATE TABLE events (
  seq INTEGER PRIMARY KEY, project_id TEXT NOT NULL, task_id TEXT, type TEXT NOT NULL, at INTEGER NOT NULL,
  v INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
${indexes}`,
    // Ids compare byte by byte ("C"), as they do in SQLite and in the code that sorts them before locking.
    // Documents are json, not jsonb: it keeps any text an agent wrote, \\u0000 included.
    postgres: `
CREATE TABLE projects (id text COLLATE "C" PRIMARY KEY, root text NOT NULL UNIQUE, doc json NOT NULL);
CREATE TABLE tasks (
  id text COLLATE "C" PRIMARY KEY, project_id text COLLATE "C" NOT NULL, number integer NOT NULL, stage text NOT NULL,
  ready_role text, priority smallint NOT NULL, rework smallint NOT NULL, not_before bigint NOT NULL,
  waiting smallint NOT NULL, lease_worker text COLLATE "C", scoped smallint NOT NULL, last_run_id text COLLATE "C",
  doc json NOT NULL
);
CREATE TABLE dependencies (
  task_id text COLLATE "C" NOT NULL, depends_on text COLLATE "C" NOT NULL, PRIMARY KEY (task_id, depends_on)
);
CREATE TABLE runs (id text COLLATE "C" PRIMARY KEY, task_id text COLLATE "C" NOT NULL, doc json NOT NULL);
CREATE TABLE workers (id text COLLATE "C" PRIMARY KEY, project_id text COLLATE "C" NOT NULL, doc json NOT NULL);
CREATE TABLE evidence (
  id text COLLATE "C" PRIMARY KEY, project_id text COLLATE "C" NOT NULL, position integer NOT NULL, tree text NOT NULL,
  task_id text COLLATE "C" NOT NULL, hash text NOT NULL UNIQUE, doc json NOT NULL
);
CREATE TABLE events (
  seq bigint PRIMARY KEY, project_id text COLLATE "C" NOT NULL, task_id text COLLATE "C", type text NOT NULL,
  at bigint NOT NULL, v smallint NOT NULL, body json NOT NULL
);
CREATE TABLE log_head (seq bigint NOT NULL);
INSERT INTO log_head VALUES (0);
${indexes}`,
  },
  {
    version: 2,
    sqlite: `
CREATE TABLE records (
  id TEXT PRIMARY KEY, noun TEXT NOT NULL, project_id TEXT NOT NULL, task_id TEXT, is_open INTEGER NOT NULL,
  due_at INTEGER, doc TEXT NOT NULL
) STRICT;
ALTER TABLE runs ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN ended_at INTEGER;
UPDATE runs SET project_id = json_extract(doc, '$.projectId'), ended_at = json_extract(doc, '$.endedAt');
${recordIndexes}`,
    postgres: `
CREATE TABLE records (
  id text COLLATE "C" PRIMARY KEY, noun text NOT NULL, project_id text COLLATE "C" NOT NULL, task_id text COLLATE "C",
  is_open smallint NOT NULL, due_at bigint, doc json NOT NULL
);
ALTER TABLE runs ADD COLUMN project_id text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN ended_at bigint;
UPDATE runs SET project_id = doc->>'projectId', ended_at = (doc->>'endedAt')::bigint;
${recordIndexes}`,
  },
  { version: 3, sqlite: logIndexes, postgres: logIndexes },
  {
    version: 4,
    sqlite: `
ALTER TABLE tasks ADD COLUMN conflicting INTEGER NOT NULL DEFAULT 0;
${conflicts}`,
    postgres: `
ALTER TABLE tasks ADD COLUMN conflicting smallint NOT NULL DEFAULT 0;
${conflicts.replace('doc LIKE', 'doc::text LIKE')}`,
  },
  {
    version: 5,
    // Letters beyond ASCII become lower case with the next save of their task.
    sqlite: `
ALTER TABLE tasks ADD COLUMN title_key TEXT NOT NULL DEFAULT '';
UPDATE tasks SET title_key = lower(coalesce(json_extract(doc, '$.title'), ''));
${listIndexes}`,
    // Postgres cannot extract fields from a document with \\u0000: such a task is found after its next save.
    postgres: `
ALTER TABLE tasks ADD COLUMN title_key text NOT NULL DEFAULT '';
UPDATE tasks SET title_key = lower(replace(replace(
  substr((doc -> 'title')::text, 2, length((doc -> 'title')::text) - 2), '\\"', '"'), '\\\\', '\\'))
WHERE position('\\u0000' in doc::text) = 0;
${listIndexes}`,
  },
  // Read by sqlite-figures.ts. Postgres parses a document once per field, so it reads the whole document instead.
  { version: 6, sqlite: figureIndex, postgres: '' },
  // A record belongs to a task or to its project.
  { version: 7, sqlite: recordParents, postgres: recordParents },
  // This step also marks actors, hosts and desired states in documents and events: an older version must not open them.
  {
    version: 8,
    sqlite: `ALTER TABLE runs ADD COLUMN job_id TEXT;\n${subjects}`,
    postgres: `ALTER TABLE runs ADD COLUMN job_id text COLLATE "C";\n${subjects}`,
  },
  {
    version: 9,
    sqlite: `${removedEvents.replaceAll('bigint', 'INTEGER')} STRICT;\nINSERT INTO log_removed VALUES (0, 0);`,
    postgres: `${removedEvents};\nINSERT INTO log_removed VALUES (0, 0);`,
  },
  // Text of records, for searches. No noun had one before this step.
  {
    version: 10,
    sqlite: `
CREATE TABLE record_words (
  place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, noun TEXT NOT NULL, project_id TEXT NOT NULL, words TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE record_search USING fts5(
  words, tags, content='', contentless_delete=1, detail=column, tokenize="ascii tokenchars '_'"
);
${recordWords}`,
    postgres: `
CREATE TABLE record_words (
  place bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, noun text NOT NULL,
  project_id text COLLATE "C" NOT NULL, words text NOT NULL, search tsvector NOT NULL, tags text[] NOT NULL
);
CREATE INDEX record_words_search ON record_words USING gin (search);
CREATE INDEX record_words_tags ON record_words USING gin (tags);
${recordWords}`,
  },
  {
    version: 11,
    sqlite: `
ALTER TABLE tasks ADD COLUMN built_at INTEGER NOT NULL DEFAULT 0;
UPDATE tasks SET built_at = json_extract(doc, '$.stageSince') WHERE ready_role = 'reviewer';
${reviewOrder}`,
    // Postgres cannot extract fields from a document with \\u0000: such a review comes first until its next save.
    postgres: `
ALTER TABLE tasks ADD COLUMN built_at bigint NOT NULL DEFAULT 0;
UPDATE tasks SET built_at = (doc->>'stageSince')::numeric::bigint
WHERE ready_role = 'reviewer' AND position('\\u0000' in doc::text) = 0;
${reviewOrder}`,
  },
  // Names of nouns in snake_case, as events have them. Documents are converted when they are read.
  { version: 12, sqlite: snakeCaseNouns, postgres: snakeCaseNouns },
];

/** The steps a store at `version` still needs. */
export function stepsAfter(version: number, migrations: readonly Migration[]): Migration[] {
  return migrations.filter((step) => step.version > version).sort((a, b) => a.version - b.version);
}
