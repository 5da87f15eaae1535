import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said, spaced } from '../event/define.ts';
import { HandOff } from '../hand-off/hand-off.ts';
import { FailureClass } from '../run/run.ts';
import { Job } from './job.ts';

const ofJob = { subjectId: z.string(), jobId: z.string() };

export const jobEvents = [
  event(
    'job.requested',
    { ...ofJob, mode: Job.shape.mode, input: z.string(), by: Actor, handOff: HandOff.optional() },
    { stale: ['jobs'], says: ({ mode, by }) => said(by, `requested a ${spaced(mode)}`) },
  ),
  event(
    'job.postponed',
    { ...ofJob, failure: FailureClass, count: z.number().int(), notBefore: z.number(), why: z.string() },
    { stale: ['jobs'], says: ({ failure, why }) => mill(`will retry after ${spaced(failure)}: ${why}`) },
  ),
  event(
    'job.ended',
    { ...ofJob, status: z.enum(['done', 'failed', 'cancelled']), summary: z.string() },
    { stale: ['jobs'], says: ({ status, summary }) => mill(`the job is ${status}${summary ? `: ${summary}` : ''}`) },
  ),
] as const;
