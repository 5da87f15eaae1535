import type { Handlers } from '../handler.ts';
import { acknowledge, actOnAlert, listChannels, showInbox, testChannel } from './inbox.ts';

export const inboxHandlers: Handlers<'inbox'> = {
  inbox: showInbox,
  acknowledge,
  actOnAlert,
  channels: listChannels,
  testChannel,
};
