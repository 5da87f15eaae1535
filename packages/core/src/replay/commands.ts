import type { Actor, Replay, ReplayReport, ReplayResult } from '@tidemill/contract';
import { replayRunId } from '@tidemill/contract';
import type { Fence } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { endReplay, measureRun, startReplay, stopReplay, tryAgain } from './replay.ts';

/** What the caller decides about a replay. The rest follows from it. */
export type NewReplay = Pick<Replay, 'purpose' | 'variants' | 'tasks' | 'repeats' | 'withLandedTests' | 'limitUsd'>;

export interface ReplayCommands {
  'replay.start': { replayId: string; replay: NewReplay; by: Actor };
  /** Requests one run. A repetition changes nothing. */
  'replay.try': { replayId: string; taskId: string; variant: number; repeat: number };
  /** In the transaction that ends its job's run. */
  'replay.measure': { replayRunId: string; result: ReplayResult } & Fence;
  'replay.stop': { replayId: string; why: string; by: Actor };
  /** All runs have ended, or it was stopped and its jobs have ended. */
  'replay.end': { replayId: string; report: ReplayReport; spentUsd: number };
}

const alone = ({ replayId }: { replayId: string }) => [look('record', replayId)];

export const replayCommands: CommandParts<keyof ReplayCommands> = {
  'replay.start': {
    // The project's lock keeps two replays from getting the same number.
    scope: ({ projectId, replayId }) => [
      look('lockedProject', projectId),
      look('record', replayId),
      look('recordsOf', projectId, 'replay'),
    ],
    decide: startReplay,
  },
  'replay.try': {
    scope: ({ replayId, taskId, variant, repeat }) => [
      look('record', replayId),
      look('record', replayRunId(replayId, taskId, variant, repeat)),
    ],
    decide: tryAgain,
  },
  'replay.measure': {
    scope: ({ replayRunId: id, jobId = '' }) => [look('record', id), look('record', jobId)],
    decide: measureRun,
  },
  'replay.stop': { scope: alone, decide: stopReplay },
  'replay.end': {
    scope: ({ replayId }) => [look('record', replayId), look('openRecordsOf', replayId)],
    decide: endReplay,
  },
};
