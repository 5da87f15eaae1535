import type { Actor, AnswerSource, AskedQuestion } from '@tidemill/contract';
import type { Asker } from '../command.ts';
import { type Lookup, look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { steeredTask } from '../task-lookup.ts';
import { answerQuestion, expireQuestion, remindOfQuestion, revokePreference } from './answer.ts';
import { askingSubject, askQuestion } from './ask.ts';

export interface QuestionCommands {
  'question.ask': {
    taskId: string | null;
    subjectId?: string | null;
    stage: string;
    questions: readonly AskedQuestion[];
  } & Asker;
  'question.answer': {
    taskId: string | null;
    subjectId?: string | null;
    questionId: string;
    by: Actor;
    source: AnswerSource;
    text: string;
  };
  /** The question expired: its default is used, or it is dismissed. */
  'question.expire': { taskId: string | null; subjectId?: string | null; questionId: string };
  'question.remind': { taskId: string | null; subjectId?: string | null; questionId: string };
  'preference.revoke': { preferenceId: string; by: Actor };
}

interface AboutQuestion {
  projectId: string;
  taskId: string | null;
  /** Given when the question is about an idea, a specification, feedback or a category. */
  subjectId?: string | null;
}

const around = ({ projectId, taskId, subjectId }: AboutQuestion): Lookup[] => [
  ...(taskId === null ? [] : steeredTask({ projectId, taskId })),
  ...(subjectId ? [look('record', subjectId), look('openRecordsOf', subjectId)] : []),
  look('recordsOf', projectId, 'preference'),
];

const scope = (command: AboutQuestion & { questionId: string }): Lookup[] => [
  ...around(command),
  look('record', command.questionId),
];

export const questionCommands: CommandParts<keyof QuestionCommands> = {
  'question.ask': {
    scope: (command) => {
      const { projectId, taskId, subjectId } = command;
      // Counted, and compared with the same question asked before.
      const counted = askingSubject({ projectId, subjectId: subjectId ?? projectId });
      return [...around(command), ...(taskId === null ? counted : [])];
    },
    decide: askQuestion,
  },
  'question.answer': { scope, decide: answerQuestion },
  'question.expire': { scope, decide: expireQuestion },
  'question.remind': { scope, decide: remindOfQuestion },
  'preference.revoke': {
    scope: ({ preferenceId }) => [look('record', preferenceId)],
    decide: revokePreference,
  },
};
