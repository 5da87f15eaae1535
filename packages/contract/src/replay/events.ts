import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { counted, event, mill, said } from '../event/define.ts';
import { Replay, ReplayReport, ReplayResult, replayRef } from './replay.ts';

const stale = ['replays', 'replay'] as const;
const ofReplay = { replayId: z.string() };

export const replayEvents = [
  event(
    'replay.started',
    { ...ofReplay, replay: Replay, by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ replay, by }) =>
        said(by, `started replay ${replayRef(replay.number)} of ${counted(replay.tasks.length, 'recorded task')}`),
    },
  ),
  event(
    'replay.tried',
    {
      ...ofReplay,
      replayRunId: z.string(),
      taskId: z.string(),
      variant: z.number().int(),
      repeat: z.number().int(),
      jobId: z.string(),
    },
    { stale, shown: 'log', says: () => mill('tries a recorded task again') },
  ),
  event(
    'replay.measured',
    { ...ofReplay, replayRunId: z.string(), result: ReplayResult },
    {
      stale,
      shown: 'log',
      says: ({ result }) => mill(`a recorded task ${result.verdict}${result.why ? `: ${result.why}` : ''}`),
    },
  ),
  event(
    'replay.stopping',
    { ...ofReplay, number: z.number().int(), why: z.string(), by: Actor },
    { stale, says: ({ number, why, by }) => said(by, `stopped replay ${replayRef(number)}: ${why}`) },
  ),
  event(
    'replay.ended',
    {
      ...ofReplay,
      number: z.number().int(),
      status: z.enum(['done', 'stopped']),
      report: ReplayReport,
      spentUsd: z.number(),
    },
    { stale, shown: 'terminal', says: ({ number, status }) => mill(`replay ${replayRef(number)} is ${status}`) },
  ),
] as const;
