import { z } from 'zod';
import { count, flag, get, maxBytes, post, project, stream, task, words } from '../api/route.ts';
import { EventLine } from '../event/event.ts';
import { Evidence } from '../gate/gate.ts';
import { Run } from '../run/run.ts';
import { CutText, LogChunk, LogSearch, SnapshotView, Verification } from '../task/view.ts';

const run = z.string().min(1);

/** Records: runs, evidence, snapshots, the log. */
export const recordRoutes = {
  run: get('/v1/runs/:run', 'One attempt of an agent', z.strictObject({ run }), Run),
  runLog: stream(
    '/v1/runs/:run/log',
    "A run's output from an offset, or live",
    z.strictObject({ run, offset: count().default(0), follow: flag() }),
    LogChunk,
  ),
  searchLog: get(
    '/v1/projects/:project/log-search',
    'Searches the output of runs and gates: matching lines, their number, or the end',
    z.strictObject({
      project,
      /** All output of a task, or of one run or one receipt's gate, which must be of the task if both are named. */
      task: task.optional(),
      run: run.optional(),
      evidence: z.string().min(1).optional(),
      /** Every word must be in the line; upper and lower case count as equal. */
      words: z.string().trim().max(300).default(''),
      /** The last lines instead of the first ones. */
      tail: flag(),
      /** In bytes: `next` of an earlier answer. */
      from: count().default(0),
      limit: count().min(0).max(200).default(20),
    }),
    z.array(LogSearch),
  ),
  evidence: get(
    '/v1/projects/:project/evidence',
    'Receipts of gates, in the order of their chain',
    z.strictObject({
      project,
      task: task.optional(),
      afterPosition: z.coerce.number<number>().int().default(-1),
      limit: count().min(1).max(1000).default(500),
    }),
    z.array(Evidence),
    { page: { cursor: 'afterPosition', field: 'position' } },
  ),
  evidenceLog: get(
    '/v1/projects/:project/evidence/:evidence/log',
    "A gate's output",
    z.strictObject({ project, evidence: z.string().min(1), maxBytes: maxBytes(10_000_000) }),
    CutText,
  ),
  verifyEvidence: get(
    '/v1/projects/:project/evidence/verify',
    'Checks that a landed commit matches its trailer',
    z.strictObject({ project, commit: z.string().min(1).optional() }),
    Verification,
  ),
  snapshots: get(
    '/v1/projects/:project/snapshots',
    'Snapshots of work',
    z.strictObject({ project }),
    z.array(SnapshotView),
  ),
  restoreSnapshot: post(
    '/v1/projects/:project/snapshots/restore',
    "Writes a snapshot's files into a new folder",
    z.strictObject({ project, ref: z.string().min(1), to: z.string().min(1) }),
    z.object({ ref: z.string(), to: z.string() }),
    // It can write to every path that the daemon can.
    { decides: true, role: 'admin' },
  ),
  events: stream(
    '/v1/events',
    'The log from a cursor, to its current end or live',
    z.strictObject({
      after: count().default(0),
      follow: flag(),
      project: project.optional(),
      task: task.optional(),
      types: words(),
      limit: count().min(1).optional(),
    }),
    EventLine,
  ),
  /** Backwards, for feeds and timelines that start at the end. */
  recentEvents: get(
    '/v1/projects/:project/recent-events',
    'The newest events, in pages towards the past',
    z.strictObject({
      project,
      task: task.optional(),
      types: words(),
      before: count().optional(),
      limit: count().min(1).max(500).default(50),
    }),
    z.array(EventLine),
    { page: { cursor: 'before', field: 'seq' } },
  ),
};
