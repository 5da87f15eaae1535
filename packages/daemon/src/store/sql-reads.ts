import {
  EndedRun,
  Evidence,
  Project,
  type RecordNoun,
  type RecordOf,
  Run,
  StoredRecord,
  storedTypes,
  Task,
  TaskSpan,
  Usage,
  Worker,
} from '@tidemill/contract';
import type { RecordQuery, RecordSearch, StoredRow, Workload } from '../ports.ts';
import type { Reads } from './driver.ts';
import { runCount } from './run-count.ts';
import { asInteger, isInteger, type RunQuery, type SqlCondition, select, selectEvents } from './sql-query.ts';
import { searchText, type TextIndex } from './sql-search.ts';
import { MOST_VALUES, sqlOfTasks } from './task-query.ts';

/** The size of the log is estimated from its newest events: to read all of it would take too long. */
const SAMPLE = 1000;
/** The other columns and the indexes of an event. */
const EVENT_OVERHEAD = 200;

/** The port's reads over any SQL database that has the schema of migrations.ts. */
export function sqlReads(run: RunQuery, textIndex: TextIndex): Reads {
  const projects = select(run, 'projects', Project);
  const tasks = select(run, 'tasks', Task);
  const workers = select(run, 'workers', Worker);
  const runs = select(run, 'runs', Run);
  const endedRuns = select(run, 'runs', EndedRun.omit({ costUsd: true }).extend({ usage: Usage }));
  const spans = select(run, 'tasks', TaskSpan.extend({ runs: Task.shape.runs }));
  const evidence = select(run, 'evidence', Evidence);
  const records = select(run, 'records', StoredRecord);
  return {
    projects: () => projects.all({ orderBy: 'id' }),
    project: (id) => projects.one({ where: [['id =', id]] }),
    projectByRoot: (root) => projects.one({ where: [['root =', root]] }),
    task: (id) => tasks.one({ where: [['id =', id]] }),
    taskByNumber: async (projectId, number) =>
      isInteger(number)
        ? tasks.one({
            where: [
              ['project_id =', projectId],
              ['number =', number],
            ],
          })
        : null,
    tasks: (query) => tasks.all(sqlOfTasks(query)),
    taskNumbers: async (ids) => {
      const found = new Map<string, number>();
      for (let at = 0; at < ids.length; at += MOST_VALUES) {
        const some = ids.slice(at, at + MOST_VALUES);
        const sql = `SELECT id, number FROM tasks WHERE id IN (${some.map(() => '?').join(', ')})`;
        for (const row of await run(sql, some)) found.set(String(row.id), Number(row.number));
      }
      return found;
    },
    taskSpans: async ({ projectId, afterNumber, limit }) => {
      const where: SqlCondition[] = [
        ['project_id =', projectId],
        ['number >', afterNumber],
      ];
      const found = await spans.all({ where, orderBy: 'number', limit });
      return found.map((span) => ({ ...span, runs: runCount(span.runs) }));
    },
    leased: (projectId) => tasks.all({ where: [['project_id =', projectId], ['lease_worker IS NOT NULL']] }),
    workload: (projectId, now) => workload(run, projectId, now),
    nextNotBefore: async (projectId, now) => {
      const [row] = await run(`SELECT min(not_before) AS n ${BACKOFF}`, [projectId, now]);
      return row?.n == null ? null : Number(row.n);
    },
    workers: (projectId) => workers.all({ where: [['project_id =', projectId]], orderBy: 'id' }),
    run: (id) => runs.one({ where: [['id =', id]] }),
    runs: (subjectId) => runs.all({ where: [['subject_id =', subjectId]], orderBy: 'id' }),
    evidence: ({ projectId, afterPosition, limit, taskId }) =>
      evidence.all({
        where: [
          ['project_id =', projectId],
          ['position >', asInteger(afterPosition)],
          ['task_id =', taskId],
        ],
        orderBy: 'position',
        limit,
      }),
    evidenceForTree: (projectId, tree) =>
      evidence.all({
        where: [
          ['project_id =', projectId],
          ['tree =', tree],
        ],
        orderBy: 'position',
      }),
    evidenceByHash: (hash) => evidence.one({ where: [['hash =', hash]] }),
    evidenceById: (id) => evidence.one({ where: [['id =', id]] }),
    async *rows(): AsyncGenerator<StoredRow> {
      for await (const found of projects.pages()) yield { noun: 'project', ...found };
      for await (const found of tasks.pages()) yield { noun: 'task', ...found };
      for await (const found of runs.pages()) yield { noun: 'run', ...found };
      for await (const found of workers.pages()) yield { noun: 'worker', ...found };
      for await (const found of evidence.pages()) yield { noun: 'evidence', ...found };
      for await (const found of records.pages()) yield { noun: 'record', ...found };
    },
    runsEnded: async ({ projectId, after, limit }) => {
      const where: SqlCondition[] = [
        ['project_id =', projectId],
        ['ended_at >', after],
      ];
      const found = await endedRuns.all({ where, orderBy: 'ended_at', limit });
      return found.map(({ usage, ...run }) => ({ ...run, costUsd: usage.costUsd }));
    },
    record: async <N extends RecordNoun>(noun: N, id: string) =>
      (await records.one({
        where: [
          ['id =', id],
          ['noun =', noun],
        ],
      })) as RecordOf<N> | null,
    records: async <N extends RecordNoun>(query: RecordQuery<N>) => {
      const { noun, projectId, parent, isOpen, dueBefore, limit } = query;
      const found = await records.all({
        where: [
          ['noun =', noun],
          ['project_id =', projectId],
          ['parent =', parent],
          ['is_open =', isOpen === undefined ? undefined : Number(isOpen)],
          ['due_at <=', dueBefore],
        ],
        orderBy: dueBefore === undefined ? 'id' : 'due_at, id',
        limit,
      });
      return found as RecordOf<N>[];
    },
    searchRecords: async <N extends RecordNoun>(query: RecordSearch<N>) => {
      const found = await searchText(run, textIndex, query);
      const rows = await records.all({ where: [['id IN', found.map(({ id }) => id)]] });
      const byId = new Map(rows.map((record) => [record.id, record as RecordOf<N>]));
      return found.flatMap(({ id, place, score }) => {
        const record = byId.get(id);
        return record ? [{ record, place, score }] : [];
      });
    },
    nextDue: async (noun, projectId) => {
      const where = projectId === undefined ? '' : ' AND project_id = ?';
      const values = projectId === undefined ? [noun] : [noun, projectId];
      const [row] = await run(
        `SELECT min(due_at) AS n FROM records WHERE noun = ? AND due_at IS NOT NULL${where}`,
        values,
      );
      return row?.n == null ? null : Number(row.n);
    },
    lastSeq: async () => Number((await run('SELECT max(seq) AS seq FROM events', []))[0]?.seq ?? 0),
    removedEvents: async () => {
      const [row] = await run('SELECT events, seqs FROM log_removed', []);
      return { count: Number(row?.events ?? 0), seqs: Number(row?.seqs ?? 0) };
    },
    logSize: async () => {
      const [all] = await run('SELECT count(*) AS n FROM events', []);
      const sample = 'SELECT CAST(body AS text) AS body FROM events ORDER BY seq DESC LIMIT ?';
      const [mean] = await run(`SELECT avg(length(body)) AS n FROM (${sample}) AS newest`, [SAMPLE]);
      const events = Number(all?.n ?? 0);
      return { events, bytes: Math.round(events * (Number(mean?.n ?? 0) + EVENT_OVERHEAD)) };
    },
    events: ({ after, upTo, newestFirst, limit, projectId, taskId, types }) =>
      selectEvents(run, {
        where: [
          ['seq >', after],
          ['seq <=', upTo],
          ['project_id =', projectId],
          ['subject_id =', taskId],
          ['type IN', types && storedTypes(types)],
        ],
        orderBy: newestFirst ? 'seq DESC' : 'seq',
        limit,
      }),
  };
}

const BACKOFF = 'FROM tasks WHERE project_id = ? AND ready_role IS NOT NULL AND not_before > 0 AND not_before > ?';

/** One statement, so that a task that is being claimed is counted exactly once. */
const WORKLOAD = `
SELECT 'stage' AS kind, stage AS name, count(*) AS n FROM tasks WHERE project_id = ? GROUP BY stage
UNION ALL SELECT 'conflicts', '', count(*) FROM tasks WHERE project_id = ? AND conflicting = 1
UNION ALL SELECT 'leased', '', count(*) FROM tasks WHERE project_id = ? AND lease_worker IS NOT NULL
UNION ALL SELECT CASE waiting WHEN 0 THEN 'ready' ELSE 'waiting' END, '', count(*) FROM tasks
  WHERE project_id = ? AND ready_role IS NOT NULL GROUP BY waiting
UNION ALL SELECT 'next', '', min(not_before) ${BACKOFF}`;

async function workload(run: RunQuery, projectId: string, now: number): Promise<Workload> {
  const load: Workload = { leased: 0, ready: 0, waiting: 0, conflicts: 0, byStage: {}, nextNotBefore: null };
  for (const row of await run(WORKLOAD, [projectId, projectId, projectId, projectId, projectId, now])) {
    const n = row.n === null ? null : Number(row.n);
    if (row.kind === 'stage') load.byStage[String(row.name)] = n ?? 0;
    else if (row.kind === 'next') load.nextNotBefore = n;
    else load[row.kind as 'leased' | 'ready' | 'waiting' | 'conflicts'] = n ?? 0;
  }
  return load;
}
