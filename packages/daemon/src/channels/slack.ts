import type { KnownBlock, WebClient } from '@slack/web-api';
import type { ChannelConfig } from '@tidemill/contract';
import type { Channel, ChannelMessage } from '../ports.ts';
import { ChannelError } from './channel-error.ts';
import { bodyText, cut, headline } from './render.ts';
import type { Secrets } from './secret.ts';
import { answerButtons, listenToSlack, SILENT } from './slack-answers.ts';

/** A block accepts 3,000 characters; more than ten blocks are not readable. */
const BLOCK_LIMIT = 2900;
const MOST_PARTS = 10;
const HEADER_LIMIT = 150;
const TIMEOUT_MS = 10_000;
const DENIED = [
  ...['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired', 'missing_scope'],
  ...['not_allowed_token_type', 'channel_not_found', 'not_in_channel', 'is_archived', 'restricted_action'],
];

type SlackConfig = Extract<ChannelConfig, { type: 'slack' }>;

/**
 * Posts as a bot. Answers come through Socket Mode, a connection that we open: the daemon cannot be reached from
 * outside, so Slack could not post them to us.
 */
export async function openSlack(config: SlackConfig, secrets: Secrets): Promise<Channel> {
  const token = secrets.read(config.tokenEnv);
  const appToken = secrets.optional(config.appTokenEnv);
  const { WebClient } = await import('@slack/web-api');
  const slackApiUrl = config.baseUrl.replace(/\/*$/, '/');
  const shared = { slackApiUrl, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, timeout: TIMEOUT_MS };
  const web = new WebClient(token, { ...shared, logger: SILENT });
  const named = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => Promise.reject(translateError(error, config)));
  return {
    line: `slack:${appToken === undefined ? config.tokenEnv : config.appTokenEnv}`,
    send: (message) => named(send(web, config.channel, message, appToken !== undefined)),
    ...(appToken !== undefined && {
      listen: (onAnswer, signal) => named(listenToSlack({ web, appToken, clientOptions: shared }, onAnswer, signal)),
    }),
    close: async () => undefined,
  };
}

async function send(web: WebClient, channel: string, message: ChannelMessage, canAnswer: boolean): Promise<string> {
  const title = headline(message, HEADER_LIMIT);
  const sent = await web.chat.postMessage({
    channel,
    // Shown in notifications, and the only text that Slack reads as markup.
    text: title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    mrkdwn: false,
    unfurl_links: false,
    blocks: blocksOf(message, title, canAnswer),
  });
  return `${sent.channel}/${sent.ts}`;
}

function blocksOf(message: ChannelMessage, title: string, canAnswer: boolean): KnownBlock[] {
  const shown = message.parts.slice(0, MOST_PARTS);
  return [
    { type: 'header', text: { type: 'plain_text', text: title, emoji: false } },
    ...shown.flatMap((part, index): KnownBlock[] => {
      const text = bodyText({ ...message, parts: [part] }, BLOCK_LIMIT, { isAnswerable: canAnswer });
      const number = shown.length > 1 ? `${index + 1}. ` : '';
      const section: KnownBlock = {
        type: 'section',
        text: { type: 'plain_text', text: cut(`${number}${text}`, BLOCK_LIMIT + 10), emoji: false },
      };
      return part.question && canAnswer ? [section, answerButtons(part.id, part.question)] : [section];
    }),
  ];
}

function translateError(error: unknown, { tokenEnv, appTokenEnv, channel }: SlackConfig): unknown {
  if (!(error instanceof Error)) return error;
  const said = dataOf(error);
  if (said !== null && DENIED.includes(said)) {
    const isChannel = /channel|archived/.test(said);
    const tokens = [tokenEnv, appTokenEnv].filter(Boolean).join(' or ');
    return new ChannelError(
      'denied',
      isChannel ? `Slack refuses ${channel}: ${said}` : `Slack does not accept the token in ${tokens}: ${said}`,
      {
        hint: isChannel
          ? `Invite the bot to ${channel}, or correct \`channel\`.`
          : `See what ${tokens} hold, and the app’s scopes.`,
      },
    );
  }
  if (said !== null)
    return new ChannelError(
      said === 'internal_error' || said === 'fatal_error' ? 'down' : 'refused',
      `Slack answered ${said}`,
    );
  const waitMs = 'retryAfter' in error ? Number(error.retryAfter) * 1000 : null;
  return new ChannelError('down', `Slack: ${error.message}`, { waitMs });
}

/** Slack's own error code, if Slack responded. */
function dataOf(error: Error): string | null {
  const data = 'data' in error ? error.data : null;
  return typeof data === 'object' && data !== null && 'error' in data ? String(data.error) : null;
}
