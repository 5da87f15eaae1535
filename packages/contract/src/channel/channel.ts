import { z } from 'zod';
import { ChannelName, Severity } from '../alert/alert.ts';

/**
 * Where notifications go. Secrets are never in the file, which is versioned with the repository: an entry names the
 * environment variable of the daemon that holds the secret.
 */
const envName = (example: string) =>
  z
    .string()
    .regex(
      /^[A-Z_][A-Z0-9_]*$/,
      `it names an environment variable, such as ${example}; the secret itself does not belong in this file`,
    );

/** A key under which people may write a secret. The error message does not repeat the value. */
const noSecret = (instead: string) =>
  z
    .unknown()
    .optional()
    .refine(
      (value) => value === undefined,
      `a secret does not belong in this file: put it into an environment variable and name that in ${instead}`,
    );

const address = z
  .url({ protocol: /^https?$/, error: 'it must be an address that starts with http:// or https://' })
  .refine(
    (url) => !/^https?:\/\/[^/?#]*@/i.test(url),
    'a password does not belong in this file: leave it out of the address',
  );

const mailAddress = z.string().regex(/^[^\s@]+@[^\s@]+$|^[^<>]*<[^\s@<>]+@[^\s@<>]+>$/, 'it must be an e-mail address');

/** The terminal in which `tidemill up` runs. */
export const TerminalChannelConfig = z.strictObject({ type: z.literal('terminal') });
/** notify-send on Linux, the notification centre on macOS. */
export const DesktopChannelConfig = z.strictObject({ type: z.literal('desktop') });
/** A signed POST. Replies come through the API. */
export const WebhookChannelConfig = z.strictObject({
  type: z.literal('webhook'),
  url: address,
  secretEnv: envName('TIDEMILL_WEBHOOK_SECRET'),
  secret: noSecret('secretEnv'),
});
/** Only the chat named here can answer, by button or by replying to the message. */
export const TelegramChannelConfig = z.strictObject({
  type: z.literal('telegram'),
  tokenEnv: envName('TELEGRAM_BOT_TOKEN'),
  token: noSecret('tokenEnv'),
  /** As the bot sees it: a number, negative for a group. */
  chat: z.union([z.number().int(), z.string().regex(/^-?\d+$/, 'it is the number of a chat, such as 123456789')]),
  baseUrl: address.default('https://api.telegram.org'),
});
/** A bot that posts messages; with an app-level token (Socket Mode) it also accepts answers. */
export const SlackChannelConfig = z.strictObject({
  type: z.literal('slack'),
  tokenEnv: envName('SLACK_BOT_TOKEN'),
  token: noSecret('tokenEnv'),
  appTokenEnv: envName('SLACK_APP_TOKEN').optional(),
  appToken: noSecret('appTokenEnv'),
  /** A channel's id (`C0123456789`) or name (`#builds`). */
  channel: z.string().min(1),
  baseUrl: address.default('https://slack.com/api/'),
});
/** By SMTP. A reply by mail is not read: the mail says where to answer. */
export const EmailChannelConfig = z.strictObject({
  type: z.literal('email'),
  host: z.string().min(1),
  port: z.number().int().min(1).max(65_535).default(587),
  /** TLS from the first byte (port 465); otherwise STARTTLS if the server supports it. */
  secure: z.boolean().default(false),
  userEnv: envName('SMTP_USER').optional(),
  passwordEnv: envName('SMTP_PASSWORD').optional(),
  password: noSecret('passwordEnv'),
  from: mailAddress,
  to: z.union([mailAddress.transform((one) => [one]), z.array(mailAddress).min(1)]),
});
/** Answers by button need their own topic, and a secret that proves that a button is ours. */
export const NtfyChannelConfig = z
  .strictObject({
    type: z.literal('ntfy'),
    topic: z.string().regex(/^[\w-]{1,64}$/, 'a topic is letters, digits, - and _'),
    tokenEnv: envName('NTFY_TOKEN').optional(),
    token: noSecret('tokenEnv'),
    answerTopic: z
      .string()
      .regex(/^[\w-]{1,64}$/, 'a topic is letters, digits, - and _')
      .optional(),
    secretEnv: envName('NTFY_ANSWER_SECRET').optional(),
    secret: noSecret('secretEnv'),
    baseUrl: address.default('https://ntfy.sh'),
  })
  .refine((ntfy) => (ntfy.answerTopic === undefined) === (ntfy.secretEnv === undefined), {
    message: 'answerTopic and secretEnv go together: both for answers by button, or neither',
  });

export const ChannelConfig = z.discriminatedUnion('type', [
  TerminalChannelConfig,
  DesktopChannelConfig,
  WebhookChannelConfig,
  TelegramChannelConfig,
  SlackChannelConfig,
  EmailChannelConfig,
  NtfyChannelConfig,
]);
export type ChannelConfig = z.infer<typeof ChannelConfig>;

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of day is hours and minutes, such as 22:00');

export const QuietHours = z.strictObject({
  from: timeOfDay,
  to: timeOfDay,
  /** `Europe/Berlin`; the machine's own when left out. */
  timeZone: z.string().refine(isTimeZone, 'unknown time zone; write it like Europe/Berlin').optional(),
});
export type QuietHours = z.infer<typeof QuietHours>;

export const NotifyConfig = z.strictObject({
  /** Lower severities stay in the inbox. */
  minSeverity: Severity.default('info'),
  /** The channels for each severity; a severity without an entry goes to all of them. */
  channels: z.partialRecord(Severity, z.array(ChannelName)).default({}),
  /** In these hours only critical alerts and questions that hold work up are sent. The rest is sent afterwards. */
  quietHours: QuietHours.optional(),
});
export type NotifyConfig = z.infer<typeof NotifyConfig>;

/** What a project has configured about notifications. */
export interface NotifySettings {
  channels: Record<string, ChannelConfig>;
  notify: NotifyConfig;
}

export const ChannelView = z.object({
  name: z.string(),
  type: z.string(),
  /** Its destination, without secrets. */
  target: z.string(),
  answers: z.boolean(),
  /** Not delivered yet. */
  pending: z.number().int(),
  lastDeliveredAt: z.number().nullable(),
  lastError: z.string().nullable(),
});
export type ChannelView = z.infer<typeof ChannelView>;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}
