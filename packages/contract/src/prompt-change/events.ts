import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said, spaced } from '../event/define.ts';
import { Tally } from '../lesson/lesson.ts';
import { PromptChange, PromptTrial, promptChangeRef } from './prompt-change.ts';

const stale = ['promptChanges', 'memory'] as const;
const ofChange = { promptChangeId: z.string(), number: z.number().int() };

export const promptChangeEvents = [
  event(
    'prompt_change.proposed',
    { ...ofChange, change: PromptChange, by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ number, change, by }) => said(by, `proposed ${promptChangeRef(number)}, a text for ${change.file}`),
    },
  ),
  event(
    'prompt_change.judged',
    { ...ofChange, trial: PromptTrial },
    {
      stale,
      says: ({ number, trial }) => mill(`a replay of ${promptChangeRef(number)} shows ${trial.verdict}: ${trial.why}`),
    },
  ),
  event(
    'prompt_change.decided',
    {
      ...ofChange,
      status: z.enum(['applied', 'refused', 'rolled_back']),
      why: z.string(),
      baseline: Tally.nullable(),
      by: Actor,
    },
    {
      stale,
      shown: 'terminal',
      says: ({ number, status, why, by }) =>
        said(by, `${spaced(status)} ${promptChangeRef(number)}${why ? `: ${why}` : ''}`),
    },
  ),
] as const;
