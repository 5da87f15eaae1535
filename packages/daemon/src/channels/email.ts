import type { ChannelConfig } from '@tidemill/contract';
import type { Channel } from '../ports.ts';
import { ChannelError } from './channel-error.ts';
import { bodyText, headline } from './render.ts';
import type { Secrets } from './secret.ts';

const LIMIT = 100_000;
const SUBJECT_LIMIT = 150;
const TIMEOUT_MS = 10_000;

type EmailConfig = Extract<ChannelConfig, { type: 'email' }>;

/** Plain text by SMTP, so a mail reader executes nothing in it. */
export async function openEmail(config: EmailConfig, secrets: Secrets): Promise<Channel> {
  const user = secrets.optional(config.userEnv);
  const pass = secrets.optional(config.passwordEnv);
  const { createTransport } = await import('nodemailer');
  const { host, port, secure, from, to } = config;
  const transport = createTransport({
    host,
    port,
    secure,
    ...(user !== undefined && { auth: { user, pass: pass ?? '' } }),
    // A password is sent only over an encrypted connection, or on loopback.
    requireTLS: user !== undefined && !secure && !/^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  return {
    line: `email:${host}:${port}`,
    async send(message) {
      try {
        const sent = await transport.sendMail({
          from,
          to,
          subject: headline(message, SUBJECT_LIMIT),
          text: bodyText(message, LIMIT, { isAnswerable: false }),
          // The same for every attempt, so that a duplicate mail can be recognized.
          messageId: `<${message.id}@tidemill>`,
        });
        return sent.messageId;
      } catch (error) {
        throw translateError(error, config);
      }
    },
    close: async () => transport.close(),
  };
}

function translateError(error: unknown, { host, port, userEnv, passwordEnv }: EmailConfig): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  const status = 'responseCode' in error ? Number(error.responseCode) : 0;
  if (code === 'EAUTH')
    return new ChannelError('denied', `${host} does not accept user and password: ${error.message}`, {
      hint: `See what ${[userEnv, passwordEnv].filter(Boolean).join(' and ') || 'userEnv and passwordEnv'} hold.`,
    });
  if (status >= 500) return new ChannelError('denied', `${host} refuses the mail: ${error.message}`);
  return new ChannelError('down', `${host}:${port}: ${error.message}`);
}
