import { type Actor, categoryId, loopId, type PauseTrigger } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { holdLoop, pauseLoop, proposeIn, switchLoop } from './loop.ts';

export interface LoopCommands {
  'loop.switch': { on: boolean; by: Actor };
  /** Its budget of a day is spent until then; null: there is budget again. */
  'loop.hold': { until: number | null };
  'loop.pause': { trigger: PauseTrigger; why: string };
  /** Asks an agent for an improvement in this category. The next one is asked when this one has begun. */
  'loop.propose': { category: string; by: Actor };
}

export const loopCommands: CommandParts<keyof LoopCommands> = {
  'loop.switch': { scope: ({ projectId }) => [look('record', loopId(projectId))], decide: switchLoop },
  'loop.hold': { scope: ({ projectId }) => [look('record', loopId(projectId))], decide: holdLoop },
  'loop.pause': { scope: ({ projectId }) => [look('record', loopId(projectId))], decide: pauseLoop },
  'loop.propose': {
    scope: ({ projectId, category }) => [
      look('record', loopId(projectId)),
      look('record', categoryId(projectId, category)),
      look('openRecords', projectId, 'job'),
    ],
    decide: proposeIn,
  },
};
