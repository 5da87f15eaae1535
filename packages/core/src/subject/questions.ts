import type { EventBody, Question } from '@tidemill/contract';
import type { Slice } from '../slice.ts';

/** The open questions about a subject. The command's scope must load its open records. */
export const openQuestions = (slice: Slice, subjectId: string): Question[] =>
  slice.list('openRecordsOf', subjectId).filter((record) => record.noun === 'question');

/** The open questions that hold a subject, without one that was just answered. */
export const holding = (slice: Slice, subjectId: string, answeredId: string): Question[] =>
  openQuestions(slice, subjectId).filter(({ id, holds, status }) => id !== answeredId && holds && status === 'open');

/** The subject no longer needs answers: it has ended. */
export const withdrawnQuestions = (slice: Slice, subjectId: string, why: string): EventBody[] =>
  openQuestions(slice, subjectId).map((question) => withdrawnQuestion(question, why));

export const withdrawnQuestion = ({ id: questionId }: Question, why: string): EventBody => ({
  type: 'question.closed',
  taskId: null,
  questionId,
  status: 'withdrawn',
  why,
});
