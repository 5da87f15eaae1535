import type { Reflection } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { endReflection, requestReflection } from './reflection.ts';

export type NewReflection = Pick<Reflection, 'about' | 'why' | 'facts' | 'files' | 'traceIds' | 'metrics'>;

export interface ReflectionCommands {
  /** A repetition changes nothing. */
  'reflection.request': { reflectionId: string; reflection: NewReflection };
  /** Its lesson is recorded, known or refused. `taskId`: the task that it is about, if it may be tried again. */
  'reflection.end': {
    reflectionId: string;
    outcome: string;
    lessonId: string | null;
    taskId: string | null;
  };
}

export const reflectionCommands: CommandParts<keyof ReflectionCommands> = {
  'reflection.request': { scope: ({ reflectionId }) => [look('record', reflectionId)], decide: requestReflection },
  'reflection.end': {
    scope: ({ reflectionId, taskId }) => [
      ...(taskId === null ? [] : [look('task', taskId)]),
      look('record', reflectionId),
    ],
    decide: endReflection,
  },
};
