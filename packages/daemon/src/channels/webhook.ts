import { createHmac } from 'node:crypto';
import type { ChannelConfig } from '@tidemill/contract';
import type { Channel, ChannelMessage, MessagePart } from '../ports.ts';
import { post } from './post.ts';
import { cut } from './render.ts';
import type { Secrets } from './secret.ts';

/** Many receivers refuse bodies of 1 MB and more. */
const LIMIT = 50_000;

type WebhookConfig = Extract<ChannelConfig, { type: 'webhook' }>;

/**
 * A POST with three headers: `x-tidemill-delivery` (the same for every attempt), `x-tidemill-timestamp` (milliseconds)
 * and `x-tidemill-signature`, which is `v1=` and the hex HMAC-SHA256 of `<timestamp>.<body>` under the shared secret.
 */
export function openWebhook(config: WebhookConfig, secrets: Secrets, about: { apiUrl: string; now(): number }) {
  const secret = secrets.read(config.secretEnv);
  return {
    line: `webhook:${config.url}`,
    async send(message, signal) {
      const body = JSON.stringify(payloadOf(message, about.apiUrl));
      const timestamp = String(about.now());
      await post({
        url: config.url,
        body,
        signal,
        headers: {
          'x-tidemill-delivery': message.id,
          'x-tidemill-timestamp': timestamp,
          'x-tidemill-signature': `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
        },
        ifDenied: `See that the receiver exists and knows the secret in ${config.secretEnv}.`,
      });
      return message.id;
    },
    close: async () => undefined,
  } satisfies Channel;
}

function payloadOf({ id, project, severity, title, at, parts }: ChannelMessage, apiUrl: string) {
  return {
    id,
    project,
    severity,
    title: cut(title, LIMIT),
    at,
    parts: parts.map((part) => partOf(part, Math.floor(LIMIT / parts.length), apiUrl)),
  };
}

function partOf({ id, severity, title, text, question }: MessagePart, limit: number, apiUrl: string) {
  return {
    id,
    severity,
    title: cut(title, limit),
    text: cut(text, limit),
    question: question && {
      id: question.id,
      ref: question.ref,
      type: question.type,
      options: question.options,
      text: cut(question.text, limit),
      context: cut(question.context, limit),
      allowFreeText: question.allowFreeText,
      default: question.defaultAnswer,
      /** A POST of `{"text": "…"}` with the daemon's token answers it. */
      answerUrl: `${apiUrl}/v1/projects/${question.projectId}/questions/${question.id}/answer`,
    },
  };
}
