import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { type EndedRun, Task, TaskSpan } from '@tidemill/contract';
import type { Reads } from './driver.ts';
import { runCount } from './run-count.ts';

/** Exactly the columns of the index runs_figures, so that no document is read. */
const ENDED = `
SELECT id, subject_id, ended_at, doc->>'workerId', doc->>'mode', doc->>'agent', doc->>'attempt', doc->>'outcome',
  doc->>'failure', doc->>'startedAt', doc->'usage'->>'costUsd'
FROM runs WHERE project_id = ? AND ended_at > ? ORDER BY ended_at LIMIT ?`;
/** The columns in that order, as SQLite returns them. Not validated: a month has too many rows. */
type EndedRow = [
  id: string,
  subjectId: string,
  endedAt: number,
  workerId: string,
  mode: EndedRun['mode'],
  agent: string,
  attempt: number,
  outcome: EndedRun['outcome'],
  failure: EndedRun['failure'],
  startedAt: number,
  costUsd: number | null,
];
const ALL = -1;

/** SQLite only: Postgres cannot extract fields from a document with a zero character. */
const SPANS = `
SELECT id, number, stage, doc->>'createdAt', doc->>'stageSince', doc->>'runs'
FROM tasks WHERE project_id = ? AND number > ? ORDER BY number LIMIT ?`;

/**
 * A busy project has a hundred thousand runs in a month, whose documents would take a second to parse. Rows are read as
 * arrays: objects take twice as long.
 */
export function figureReads(db: DatabaseSync): Pick<Reads, 'runsEnded' | 'taskSpans'> {
  const ended = db.prepare(ENDED);
  const spans = db.prepare(SPANS);
  for (const statement of [ended, spans]) statement.setReturnArrays(true);
  return {
    runsEnded: async ({ projectId, after, limit = ALL }) =>
      (ended.all(projectId, after, limit) as unknown as EndedRow[]).map((row) => ({
        id: row[0],
        subjectId: row[1],
        workerId: row[3],
        mode: row[4],
        agent: row[5],
        attempt: row[6],
        outcome: row[7],
        failure: row[8],
        startedAt: row[9],
        endedAt: row[2],
        costUsd: row[10],
      })),
    taskSpans: async ({ projectId, afterNumber, limit }) =>
      (spans.all(projectId, afterNumber, limit) as unknown as SQLOutputValue[][]).map(
        ([id, number, stage, createdAt, stageSince, runs]) =>
          TaskSpan.parse({
            id,
            number,
            stage,
            createdAt,
            stageSince,
            runs: runCount(Task.shape.runs.parse(JSON.parse(String(runs)))),
          }),
      ),
  };
}
