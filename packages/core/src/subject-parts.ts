import type { Answer, EventBody, Job, Question, RecordNoun, StoredRecord } from '@tidemill/contract';
import { categoryPart } from './category/category.ts';
import type { DecideEnv } from './command.ts';
import { deliveryPart } from './delivery/answer.ts';
import { feedbackSubject } from './feedback/feedback.ts';
import { replyAfterAnswers, replyEnded, replyToAnswer } from './idea/reply.ts';
import { reflectionPart } from './reflection/reflection.ts';
import { replayRunPart } from './replay/replay.ts';
import type { Slice } from './slice.ts';
import { specPart } from './spec/part.ts';
import type { JobEnd, LastAnswer, SubjectPart } from './subject/part.ts';
import { holding } from './subject/questions.ts';

/** The nouns that agents work on through jobs. */
const parts: { readonly [N in RecordNoun]?: SubjectPart<N> } = {
  idea: {
    jobEnded: replyEnded,
    answered: replyToAnswer,
    resumed: (_slice, idea, env) => replyAfterAnswers(idea, env),
  },
  spec: specPart,
  feedback: feedbackSubject,
  category: categoryPart,
  replay_run: replayRunPart,
  reflection: reflectionPart,
  delivery: deliveryPart,
};

const partOf = (subject: StoredRecord) => parts[subject.noun] as SubjectPart<RecordNoun> | undefined;

/** What follows for its subject from the end of a job. Nothing for a project. */
export function afterJob(slice: Slice, job: Job, end: JobEnd, env: DecideEnv): EventBody[] {
  const subject = slice.records.get(job.subjectId);
  return subject ? (partOf(subject)?.jobEnded(slice, subject, job, end, env) ?? []) : [];
}

/** Why a job may not ask about its subject; null when it may. */
export function refusedQuestions(slice: Slice, { subjectId }: Job): string | null {
  const subject = slice.records.get(subjectId);
  return subject ? (partOf(subject)?.refusesQuestions?.(subject) ?? null) : null;
}

/** What follows for its subject when no question holds it any more. */
function resumeSubject(slice: Slice, subjectId: string, env: DecideEnv, last: LastAnswer): EventBody[] {
  const subject = slice.records.get(subjectId);
  return subject ? (partOf(subject)?.resumed(slice, subject, env, last) ?? []) : [];
}

/** What follows for a question's subject from its answer. */
export function afterAnswer(slice: Slice, question: Question, answer: Answer, env: DecideEnv): EventBody[] {
  const { id, subjectId, holds } = question;
  if (subjectId === null) return [];
  if (!holds) {
    const subject = slice.records.get(subjectId);
    return subject ? (partOf(subject)?.answered?.(subject, question, answer, env) ?? []) : [];
  }
  if (holding(slice, subjectId, id).length > 0) return [];
  return resumeSubject(slice, subjectId, env, { question, answer });
}
