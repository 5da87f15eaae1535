import type { KnownBlock, ModalView, WebClient, WebClientOptions } from '@slack/web-api';
import { plainLine, type Question } from '@tidemill/contract';
import { z } from 'zod';
import type { HearAnswer } from '../ports.ts';
import { ChannelError } from './channel-error.ts';
import { cut } from './render.ts';

const BUTTON_LIMIT = 75;
/** Slack accepts 25 elements; one is for a text answer. */
const MOST_OPTIONS = 24;
const IN_WORDS = 'tidemill-words';
const OPTION = 'tidemill-option';
const INPUT = 'tidemill-input';

const nothing = () => undefined;
/** By default the libraries log what they send to the console. */
export const SILENT = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  getLevel: () => 'error' as never,
};

const Person = z.object({ id: z.string(), username: z.string().optional(), name: z.string().optional() });
const Place = z.object({ partId: z.string(), channel: z.string(), ts: z.string() });
const Interaction = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('block_actions'),
    user: Person,
    trigger_id: z.string(),
    channel: z.object({ id: z.string() }),
    message: z.object({ ts: z.string() }),
    actions: z.array(z.object({ action_id: z.string(), value: z.string().default('') })),
  }),
  z.object({
    type: z.literal('view_submission'),
    user: Person,
    view: z.object({
      private_metadata: z.string(),
      state: z.object({
        values: z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() }))),
      }),
    }),
  }),
]);
type Interaction = z.infer<typeof Interaction>;

export function answerButtons(partId: string, question: Question): KnownBlock {
  const options = question.options.slice(0, MOST_OPTIONS).map(({ label }, option) => ({
    type: 'button' as const,
    text: { type: 'plain_text' as const, text: cut(plainLine(label), BUTTON_LIMIT), emoji: false },
    action_id: `${OPTION}-${option}`,
    value: `${partId} ${option}`,
  }));
  const words = {
    type: 'button' as const,
    text: { type: 'plain_text' as const, text: 'Answer in words' },
    action_id: IN_WORDS,
    value: partId,
  };
  return { type: 'actions', elements: question.allowFreeText ? [...options, words] : options };
}

interface Line {
  web: WebClient;
  appToken: string;
  clientOptions: WebClientOptions;
}

/** Runs until the signal aborts or the connection ends. Slack ends it from time to time and expects a new one. */
export async function listenToSlack(line: Line, onAnswer: HearAnswer, signal: AbortSignal): Promise<void> {
  const { SocketModeClient } = await import('@slack/socket-mode');
  const { appToken, clientOptions } = line;
  // When its own reconnect fails, it throws an error that cannot be caught.
  const client = new SocketModeClient({ appToken, clientOptions, autoReconnectEnabled: false, logger: SILENT });
  const over = Promise.withResolvers<void>();
  client.on('interactive', ({ body, ack }: { body: unknown; ack(): Promise<void> }) => {
    void ack()
      .then(() => take(line.web, body, onAnswer))
      .catch(over.reject);
  });
  client.on('error', over.reject);
  client.on('disconnected', () => over.reject(new ChannelError('down', 'Slack ended the connection')));
  const leave = () => over.resolve();
  signal.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([client.start(), over.promise]);
    await over.promise;
  } finally {
    signal.removeEventListener('abort', leave);
    over.promise.catch(() => undefined);
    await client.disconnect();
  }
}

async function take(web: WebClient, body: unknown, onAnswer: HearAnswer): Promise<void> {
  const parsed = Interaction.safeParse(body);
  if (!parsed.success) return;
  if (parsed.data.type === 'view_submission') return takeWords(web, parsed.data, onAnswer);
  const { user, channel, message, actions, trigger_id } = parsed.data;
  for (const { action_id, value } of actions) {
    if (action_id === IN_WORDS) {
      const place = { partId: value, channel: channel.id, ts: message.ts };
      await web.views.open({ trigger_id, view: wordsView(place) });
    } else if (action_id.startsWith(OPTION)) {
      const [partId = '', option = ''] = value.split(' ');
      const { text } = await onAnswer({ partId, option: Number(option), by: nameOf(user) });
      await reply(web, { partId, channel: channel.id, ts: message.ts }, text);
    }
  }
}

async function takeWords(
  web: WebClient,
  { user, view }: Extract<Interaction, { type: 'view_submission' }>,
  onAnswer: HearAnswer,
): Promise<void> {
  const place = Place.safeParse(JSON.parse(view.private_metadata));
  const words = view.state.values[INPUT]?.[INPUT]?.value ?? '';
  if (!place.success) return;
  const { text } = await onAnswer({ partId: place.data.partId, text: words, by: nameOf(user) });
  await reply(web, place.data, text);
}

async function reply(web: WebClient, { channel, ts }: z.infer<typeof Place>, text: string): Promise<void> {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  await web.chat.postMessage({ channel, thread_ts: ts, text: cut(escaped, 3000), mrkdwn: false });
}

function wordsView(place: z.infer<typeof Place>): ModalView {
  return {
    type: 'modal',
    title: { type: 'plain_text', text: 'Answer' },
    submit: { type: 'plain_text', text: 'Send' },
    private_metadata: JSON.stringify(place),
    blocks: [
      {
        type: 'input',
        block_id: INPUT,
        label: { type: 'plain_text', text: 'Your answer' },
        element: { type: 'plain_text_input', action_id: INPUT, multiline: true, max_length: 3000 },
      },
    ],
  };
}

const nameOf = ({ id, username, name }: z.infer<typeof Person>) => `slack:@${username ?? name ?? id}`;
