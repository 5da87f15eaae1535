import type {
  Actor,
  AgentEnvelope,
  Answer,
  EventBody,
  Job,
  JobMode,
  Question,
  RecordNoun,
  RecordOf,
} from '@tidemill/contract';
import type { DecideEnv } from '../command.ts';
import { jobHandOff } from '../hand-off/job.ts';
import type { Slice } from '../slice.ts';

/** How a job ended. `asked`: its questions are open, and the subject waits for the answers. */
export type JobEnd =
  | { status: 'done' | 'asked'; envelope: AgentEnvelope }
  | { status: 'failed' | 'cancelled'; why: string };

/** The question that was answered last. */
export interface LastAnswer {
  question: Question;
  answer: Answer;
}

/**
 * What a noun does as the subject of jobs and questions. Both functions run in the transaction of the event they follow,
 * and may read the subject's own row only.
 */
export interface SubjectPart<N extends RecordNoun> {
  jobEnded(slice: Slice, subject: RecordOf<N>, job: Job, end: JobEnd, env: DecideEnv): EventBody[];
  /** Why its agent may not ask people, in words for the agent; null when it may. */
  refusesQuestions?(subject: RecordOf<N>): string | null;
  /** A question that did not hold it was answered. */
  answered?(subject: RecordOf<N>, question: Question, answer: Answer, env: DecideEnv): EventBody[];
  /** The last question that held it was answered. */
  resumed(slice: Slice, subject: RecordOf<N>, env: DecideEnv, last: LastAnswer): EventBody[];
}

/** The event with which a decision of a noun requests a job about it. */
export const requestedJob = (
  env: Pick<DecideEnv, 'newId' | 'now'>,
  about: { subjectId: string; mode: JobMode; input: string; by: Actor },
): EventBody & { type: 'job.requested' } => {
  const job = { jobId: env.newId('job'), ...about };
  return { type: 'job.requested', ...job, handOff: jobHandOff(job, env.now) };
};
