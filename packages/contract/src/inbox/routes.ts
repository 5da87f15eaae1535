import { z } from 'zod';
import { by, get, post, project } from '../api/route.ts';
import { ChannelView } from '../channel/channel.ts';
import { InboxItem } from './inbox.ts';

/** What waits for people, and how they are told. */
export const inboxRoutes = {
  inbox: get(
    '/v1/projects/:project/inbox',
    'Everything that waits for a person, the most urgent first',
    z.strictObject({ project }),
    z.array(InboxItem),
  ),
  acknowledge: post(
    '/v1/projects/:project/inbox/acknowledge',
    'Acknowledges an alert, or all of them',
    /** `ref` as the inbox shows it, or an id. */
    z.strictObject({ project, by, ref: z.string().min(1).optional() }),
    z.object({ acknowledged: z.number().int() }),
    { decides: true },
  ),
  actOnAlert: post(
    '/v1/projects/:project/inbox/act',
    'Does what an alert proposes: restarts its worker, adds a repair task, …',
    /** `ref` as the inbox shows it, or an id; `action` as the inbox lists it. */
    z.strictObject({ project, by, ref: z.string().min(1), action: z.string().min(1) }),
    /** What happened, in a sentence. */
    z.object({ done: z.string() }),
    { decides: true },
  ),
  channels: get(
    '/v1/projects/:project/channels',
    'The channels, and the undelivered messages of each',
    z.strictObject({ project }),
    z.array(ChannelView),
  ),
  testChannel: post(
    '/v1/projects/:project/channels/:channel/test',
    'Sends a test message',
    z.strictObject({ project, channel: z.string().min(1) }),
    z.object({ sent: z.literal(true), reference: z.string().nullable() }),
    { decides: true },
  ),
};
