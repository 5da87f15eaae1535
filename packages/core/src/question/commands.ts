import type { AnswerSource, AskedQuestion } from '@tidemill/contract';
import type { Asker } from '../command.ts';
import type { CommandParts } from '../noun.ts';
import type { Lookup } from '../scope.ts';
import { steeredTask } from '../task-lookup.ts';
import { answerQuestion, expireQuestion, remindOfQuestion, revokePreference } from './answer.ts';
import { askQuestion } from './ask.ts';

export interface QuestionCommands {
  'question.ask': { taskId: string | null; stage: string; questions: readonly AskedQuestion[] } & Asker;
  'question.answer': {
    taskId: string | null;
    questionId: string;
    by: string;
    source: AnswerSource;
    text: string;
  };
  /** Its time is up: the default is taken, or it is dismissed. */
  'question.expire': { taskId: string | null; questionId: string };
  'question.remind': { taskId: string | null; questionId: string };
  'preference.revoke': { preferenceId: string; by: string };
}

interface AboutQuestion {
  projectId: string;
  taskId: string | null;
}

const around = ({ projectId, taskId }: AboutQuestion): Lookup[] => [
  ...(taskId === null ? [] : steeredTask({ projectId, taskId })),
  { find: 'projectRecords', by: { projectId, noun: 'preference' } },
];

const scope = (command: AboutQuestion & { questionId: string }): Lookup[] => [
  ...around(command),
  { find: 'records', by: command.questionId },
];

export const questionCommands: CommandParts<keyof QuestionCommands> = {
  'question.ask': {
    scope: (command) => {
      const { projectId, taskId } = command;
      // Counted, and compared with the same question asked before.
      const ofProject: Lookup[] = [
        { find: 'lockedProjects', by: projectId },
        { find: 'projectRecords', by: { projectId, noun: 'question' } },
      ];
      return [...around(command), ...(taskId === null ? ofProject : [])];
    },
    decide: askQuestion,
  },
  'question.answer': { scope, decide: answerQuestion },
  'question.expire': { scope, decide: expireQuestion },
  'question.remind': { scope, decide: remindOfQuestion },
  'preference.revoke': {
    scope: ({ preferenceId }) => [{ find: 'records', by: preferenceId }],
    decide: revokePreference,
  },
};
