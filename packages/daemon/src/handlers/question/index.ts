import type { Handlers } from '../handler.ts';
import {
  answerDefaults,
  answerQuestion,
  listPreferences,
  listQuestions,
  revokePreference,
  showQuestion,
} from './question.ts';

export const questionHandlers: Handlers<'questions'> = {
  questions: listQuestions,
  question: showQuestion,
  answerQuestion,
  answerDefaults,
  preferences: listPreferences,
  revokePreference,
};
