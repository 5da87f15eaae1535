import { z } from 'zod';
import { event, mill, said } from '../event/define.ts';
import { PreventionResult, Reflection, ReflectionResult } from './reflection.ts';

const stale = ['reflections', 'memory'] as const;
const ofReflection = { reflectionId: z.string() };

export const reflectionEvents = [
  event(
    'reflection.requested',
    { ...ofReflection, reflection: Reflection },
    { stale, says: ({ reflection }) => mill(`asks what went wrong: ${reflection.why}`) },
  ),
  event(
    'reflection.answered',
    { ...ofReflection, result: ReflectionResult },
    { stale, says: ({ result }) => said('agent', `names the assumption that failed: ${result.assumption}`) },
  ),
  event(
    'reflection.prevented',
    { ...ofReflection, prevention: PreventionResult, writtenIn: z.string().nullable() },
    { stale, says: ({ prevention }) => said('agent', `says how to prevent it: ${prevention.text}`) },
  ),
  event(
    'reflection.ended',
    {
      ...ofReflection,
      status: z.enum(['done', 'failed']),
      outcome: z.string(),
      lessonId: z.string().nullable(),
      /** The task that gets it as context for its next try. */
      taskId: z.string().nullable(),
      /** What the next try is told. */
      lastAttempt: z.string().nullable(),
    },
    { stale, says: ({ outcome }) => mill(`reflected: ${outcome}`) },
  ),
] as const;
