import type { Replay } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const replayEvents = {
  'replay.started': (slice, { replay }) => slice.records.put(replay),
  'replay.tried': (slice, body, { projectId, at }) => {
    const { replayRunId: id, replayId, taskId, variant, repeat, jobId } = body;
    slice.records.put({
      noun: 'replay_run',
      id,
      projectId,
      replayId,
      taskId,
      variant,
      repeat,
      jobId,
      result: null,
      createdAt: at,
      endedAt: null,
    });
  },
  'replay.measured': (slice, { replayRunId, result }, { at }) => {
    const run = slice.record('replay_run', replayRunId);
    if (run) slice.records.put({ ...run, result, endedAt: at });
  },
  'replay.stopping': (slice, { replayId, why }) => change(slice, replayId, { status: 'stopping', why }),
  'replay.ended': (slice, { replayId, status, report, spentUsd }, { at }) =>
    change(slice, replayId, { status, report, spentUsd, endedAt: at }),
} satisfies Reductions;

function change(slice: Slice, replayId: string, changed: Partial<Replay>): void {
  const replay = slice.record('replay', replayId);
  if (replay) slice.records.put({ ...replay, ...changed });
}
