import type { Handlers } from '../handler.ts';
import { acknowledge, listChannels, showInbox, testChannel } from './inbox.ts';
import {
  answerDefaults,
  answerQuestion,
  listPreferences,
  listQuestions,
  revokePreference,
  showQuestion,
} from './question.ts';

export const peopleHandlers: Handlers<'people'> = {
  questions: listQuestions,
  question: showQuestion,
  answerQuestion,
  answerDefaults,
  preferences: listPreferences,
  revokePreference,
  inbox: showInbox,
  acknowledge,
  channels: listChannels,
  testChannel,
};
