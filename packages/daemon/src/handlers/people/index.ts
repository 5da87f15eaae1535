import type { Handlers } from '../handler.ts';
import { acknowledge, actOnAlert, listChannels, showInbox, testChannel } from './inbox.ts';
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
  actOnAlert,
  channels: listChannels,
  testChannel,
};
