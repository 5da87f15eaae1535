import { EndedRun } from '@tidemill/contract';
import type { Reads } from './driver.ts';
import type { RunQuery } from './sql-query.ts';

/** Word for word what the index runs_figures holds: so the rows come from it alone, and no document is opened. */
const ENDED = `
SELECT id, task_id, ended_at, doc->>'workerId' AS worker, doc->>'mode' AS mode, doc->>'agent' AS agent,
  doc->>'attempt' AS attempt, doc->>'outcome' AS outcome, doc->>'failure' AS failure, doc->>'startedAt' AS started_at,
  doc->'usage'->>'costUsd' AS cost
FROM runs WHERE project_id = ? AND ended_at > ? ORDER BY ended_at LIMIT ?`;
const ALL = -1;

/** The month of a busy project has a hundred thousand runs, whose documents would take a second to parse. */
export function endedRuns(run: RunQuery): Reads['runsEnded'] {
  return async ({ projectId, after, limit = ALL }) =>
    (await run(ENDED, [projectId, after, limit])).map((row) =>
      EndedRun.parse({
        ...{ id: row.id, taskId: row.task_id, workerId: row.worker, mode: row.mode, agent: row.agent },
        ...{ attempt: row.attempt, outcome: row.outcome, failure: row.failure },
        ...{ startedAt: row.started_at, endedAt: row.ended_at, usage: { costUsd: row.cost } },
      }),
    );
}
