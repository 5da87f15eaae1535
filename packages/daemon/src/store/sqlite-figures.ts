import { type EndedRun, Task, TaskSpan } from '@tidemill/contract';
import type { Reads } from './driver.ts';
import type { RunQuery } from './sql-query.ts';
import { runCount } from './task-columns.ts';

/** Word for word what the index runs_figures holds: so the rows come from it alone, and no document is opened. */
const ENDED = `
SELECT id, task_id AS taskId, ended_at AS endedAt, doc->>'workerId' AS workerId, doc->>'mode' AS mode,
  doc->>'agent' AS agent, doc->>'attempt' AS attempt, doc->>'outcome' AS outcome, doc->>'failure' AS failure,
  doc->>'startedAt' AS startedAt, doc->'usage'->>'costUsd' AS costUsd
FROM runs WHERE project_id = ? AND ended_at > ? ORDER BY ended_at LIMIT ?`;
const ALL = -1;

/** The columns above, as SQLite gives them: what was checked when it was written is not checked for each of a month. */
type EndedRow = Omit<EndedRun, 'usage'> & EndedRun['usage'];

/** Postgres stumbles over a zero character anywhere in a document; SQLite takes the small part out of the long whole. */
const SPANS = `
SELECT id, number, stage, doc->>'createdAt' AS createdAt, doc->>'stageSince' AS stageSince, doc->>'runs' AS runs
FROM tasks WHERE project_id = ? AND number > ? ORDER BY number LIMIT ?`;

/** A busy project has a hundred thousand runs in a month, whose documents would take a second to parse. */
export function figureReads(run: RunQuery): Pick<Reads, 'runsEnded' | 'taskSpans'> {
  const runsEnded: Reads['runsEnded'] = async ({ projectId, after, limit = ALL }) => {
    const rows = (await run(ENDED, [projectId, after, limit])) as unknown as EndedRow[];
    return rows.map((row) => ({
      id: row.id,
      taskId: row.taskId,
      workerId: row.workerId,
      mode: row.mode,
      agent: row.agent,
      attempt: row.attempt,
      outcome: row.outcome,
      failure: row.failure,
      startedAt: row.startedAt,
      endedAt: row.endedAt,
      usage: { costUsd: row.costUsd },
    }));
  };
  const taskSpans: Reads['taskSpans'] = async ({ projectId, afterNumber, limit }) =>
    (await run(SPANS, [projectId, afterNumber, limit])).map((row) =>
      TaskSpan.parse({ ...row, runs: runCount(Task.shape.runs.parse(JSON.parse(String(row.runs)))) }),
    );
  return { runsEnded, taskSpans };
}
