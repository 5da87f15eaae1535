import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ChannelConfig } from '@tidemill/contract';
import { z } from 'zod';
import type { Channel, ChannelMessage, HearAnswer } from '../ports.ts';
import { ChannelError, channelErrorOf } from './channel-error.ts';
import { post } from './post.ts';
import { bodyText, headline } from './render.ts';
import type { Secrets } from './secret.ts';

/** The server accepts 4,096 bytes; a character may have four. */
const LIMIT_BYTES = 4000;
const MOST_BUTTONS = 3;
/** As long as a server keeps messages, so that an answer given while no daemon ran is read. */
const KEPT = '12h';
const PRIORITY = { info: 2, warning: 3, error: 4, critical: 5 };

type NtfyConfig = Extract<ChannelConfig, { type: 'ntfy' }>;

const StreamLine = z.object({ id: z.string(), time: z.number(), event: z.string(), message: z.string().default('') });
const Sent = z.object({ id: z.string() });

/**
 * A phone cannot reach the daemon, which listens on this machine only. So a button publishes to a second topic, which
 * the daemon reads. A code signed with our secret shows that the button is ours.
 */
export function openNtfy(config: NtfyConfig, secrets: Secrets): Channel {
  const token = secrets.optional(config.tokenEnv);
  const secret = secrets.optional(config.secretEnv);
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const base = config.baseUrl.replace(/\/+$/, '');
  const ifDenied = `See that the topic exists and ${config.tokenEnv ?? 'its token (tokenEnv)'} may use it.`;
  const publish = async (body: object, signal: AbortSignal) => {
    const text = JSON.stringify({ topic: config.topic, ...body });
    return post({ url: base, body: text, headers: authorization, signal, ifDenied });
  };
  const channel: Channel = {
    line: `ntfy:${base}/${config.topic}`,
    async send(message, signal) {
      const answer = await publish(
        {
          title: headline(message, 200),
          message: withinBytes(bodyText(message, LIMIT_BYTES, { isAnswerable: false })),
          priority: PRIORITY[message.severity],
          actions: secret === undefined ? [] : buttonsOf(message, `${base}/${config.answerTopic}`, secret),
        },
        signal,
      );
      return Sent.parse(JSON.parse(answer)).id;
    },
    close: async () => undefined,
  };
  if (secret === undefined) return channel;
  let since = KEPT;
  const listen = async (onAnswer: HearAnswer, signal: AbortSignal) => {
    const url = `${base}/${config.answerTopic}/json?since=${since}`;
    const response = await fetch(url, { headers: authorization, signal });
    if (!response.ok || !response.body)
      throw channelErrorOf(response.status, `${new URL(base).host} answered ${response.status}`, { hint: ifDenied });
    const startedAt = Date.now();
    for await (const line of linesOf(response.body)) {
      const { id, time, event, message } = StreamLine.parse(JSON.parse(line));
      if (event !== 'message') continue;
      since = id;
      const answer = answerOf(message, secret);
      if (!answer) continue;
      const reply = await onAnswer({ ...answer, by: 'ntfy' });
      // The previous daemon has most likely handled earlier messages.
      if (reply.isTaken || time * 1000 >= startedAt - 5000) await publish({ message: reply.text }, signal);
    }
    throw new ChannelError('down', 'the stream of answers ended');
  };
  return {
    ...channel,
    listen: (onAnswer, signal) =>
      listen(onAnswer, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      }),
  };
}

function buttonsOf({ parts }: ChannelMessage, url: string, secret: string) {
  return parts
    .flatMap((part, index) =>
      (part.question?.options ?? []).map(({ label }, option) => ({
        action: 'http',
        url,
        method: 'POST',
        clear: true,
        label: (parts.length > 1 ? `${index + 1}: ${label}` : label).slice(0, 60),
        body: `${part.id} ${option} ${codeOf(part.id, option, secret)}`,
      })),
    )
    .slice(0, MOST_BUTTONS);
}

const codeOf = (partId: string, option: number, secret: string) =>
  createHmac('sha256', secret).update(`${partId} ${option}`).digest('hex').slice(0, 32);

function answerOf(message: string, secret: string): { partId: string; option: number } | null {
  const [, partId, option, code] = /^(\S+) (\d{1,2}) ([0-9a-f]{32})$/.exec(message.trim()) ?? [];
  if (!partId || !option || !code) return null;
  const expected = codeOf(partId, Number(option), secret);
  return timingSafeEqual(Buffer.from(code), Buffer.from(expected)) ? { partId, option: Number(option) } : null;
}

function withinBytes(text: string): string {
  let kept = text;
  while (Buffer.byteLength(kept) > LIMIT_BYTES) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return kept;
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part.trim() !== '') yield part;
  }
}
