import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ModelRequest,
  type ModelServer,
  openEventStream,
  type Script,
  sendJson,
  startModelServer,
  turnOf,
} from './http.ts';

// A model behind the part of the Anthropic Messages API that the vendor's own programs use: they complete real tool
// calls against it. Its answers come from the script.

interface Message {
  role: string;
  content: string | Block[];
}
interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: unknown;
  is_error?: boolean;
}
export interface MessagesBody {
  model: string;
  stream?: boolean;
  system?: unknown;
  messages: Message[];
  tools?: { name: string; description?: string; input_schema?: unknown }[];
}
export type MessagesRequest = ModelRequest<MessagesBody>;

interface TokenCounts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** One answer of the model. */
export interface Spoken {
  say?: string;
  call?: { name: string; input: Record<string, unknown> }[];
  usage?: Partial<TokenCounts>;
  stopReason?: string;
  /** Between any two pieces of the stream. */
  paceMs?: number;
  /** The answer waits until this resolves. */
  after?: Promise<unknown>;
  /** The connection breaks after that many events of the stream. */
  cutAfter?: number;
  /** Nothing more comes after that many events of the stream. */
  hangAfter?: number;
}
interface Refused {
  status: number;
  type: string;
  message: string;
  headers?: Record<string, string>;
}
export type MessagesTurn = Spoken | Refused;
export type MessagesScript = Script<MessagesTurn, MessagesBody>;

export const say = (text: string, more: Partial<Spoken> = {}): Spoken => ({ say: text, ...more });
export const call = (name: string, input: Record<string, unknown>, more: Partial<Spoken> = {}): Spoken => ({
  call: [{ name, input }],
  ...more,
});
/** How Claude Code has its structured output delivered. */
export const structured = (output: Record<string, unknown>, more: Partial<Spoken> = {}): Spoken =>
  call('StructuredOutput', output, more);

/** Error responses of the vendor's servers. */
export const refusals = {
  auth: { status: 401, type: 'authentication_error', message: 'invalid x-api-key' },
  credit: {
    status: 403,
    type: 'billing_error',
    message: 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.',
  },
  lowBalance: {
    status: 400,
    type: 'invalid_request_error',
    message: 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.',
  },
  rateLimit: (seconds: number): Refused => ({
    status: 429,
    type: 'rate_limit_error',
    message: 'This request would exceed your organization’s rate limit.',
    headers: {
      'retry-after': String(seconds),
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': new Date(Date.now() + seconds * 1000).toISOString(),
    },
  }),
  /** The error of a subscription that is used up until `reset` (epoch seconds). */
  usageLimit: (reset: number): Refused => ({
    status: 429,
    type: 'rate_limit_error',
    message: 'This request would exceed your account’s rate limit. Please try again later.',
    headers: {
      'retry-after': String(reset - Math.floor(Date.now() / 1000)),
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(reset),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-overage-status': 'rejected',
    },
  }),
  overloaded: { status: 529, type: 'overloaded_error', message: 'Overloaded' },
  broken: { status: 500, type: 'api_error', message: 'Internal server error' },
  tooLong: {
    status: 400,
    type: 'invalid_request_error',
    message: 'prompt is too long: 210000 tokens > 200000 maximum',
  },
  badRequest: { status: 400, type: 'invalid_request_error', message: 'messages: something is wrong with it' },
} satisfies Record<string, Refused | ((when: number) => Refused)>;

/** Everything the tools have answered so far, newest last, as text. */
export function toolResults(request: MessagesRequest): string[] {
  return request.body.messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.filter(({ type }) => type === 'tool_result').map((block) => textIn(block.content)),
  );
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as Block[]).map(({ text }) => text ?? '').join('\n');
}

export type MessagesServer = ModelServer<MessagesBody>;

export function startMessagesServer(script: MessagesScript): Promise<MessagesServer> {
  return startModelServer<MessagesBody>({
    takes: ({ method, path }) => method === 'POST' && /^\/v1\/messages(\?|$)/.test(path),
    async answer(request, response) {
      const turn = await turnOf(script, request);
      if ('status' in turn) return refuse(response, turn, request.index);
      await turn.after;
      if (request.body.stream) await stream(response, request, turn);
      else if (turn.cutAfter !== undefined) response.destroy();
      else sendJson(response, 200, { ...opening(request, turn), ...closing(turn), content: blocksOf(request, turn) });
    },
  });
}

function refuse(response: ServerResponse, { status, type, message, headers }: Refused, index: number): void {
  const body = { type: 'error', error: { type, message }, request_id: `req_${index}` };
  sendJson(response, status, body, { 'request-id': `req_${index}`, ...headers });
}

const counts = ({ usage }: Spoken): TokenCounts => ({ input: 100, output: 20, cacheRead: 0, cacheWrite: 0, ...usage });

function opening(request: MessagesRequest, turn: Spoken) {
  const { input, cacheRead, cacheWrite } = counts(turn);
  return {
    id: `msg_${request.index}`,
    type: 'message',
    role: 'assistant',
    model: request.body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: input,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
      output_tokens: 1,
    },
  };
}

function closing(turn: Spoken) {
  const { input, output, cacheRead, cacheWrite } = counts(turn);
  return {
    stop_reason: turn.stopReason ?? (turn.call?.length ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage: {
      input_tokens: input,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
      output_tokens: output,
    },
  };
}

function blocksOf(request: MessagesRequest, { say: text, call: calls = [] }: Spoken): Block[] {
  const tools = calls.map(({ name, input }, at) => ({
    type: 'tool_use',
    id: `toolu_${request.index}_${at}`,
    name,
    input,
  }));
  return [...(text === undefined ? [] : [{ type: 'text', text }]), ...tools];
}

type StreamEvent = { type: string } & Record<string, unknown>;

async function stream(response: ServerResponse, request: MessagesRequest, turn: Spoken): Promise<void> {
  const out = openEventStream(response, { 'request-id': `req_${request.index}` });
  for (const [sent, event] of eventsOf(request, turn).entries()) {
    if (sent === turn.cutAfter) return out.cut();
    if (sent === turn.hangAfter) return;
    if (sent > 0 && turn.paceMs) await delay(turn.paceMs);
    if (response.destroyed) return;
    await out.send(event.type, event);
  }
  out.end();
}

function eventsOf(request: MessagesRequest, turn: Spoken): StreamEvent[] {
  const { usage, ...delta } = closing(turn);
  const blocks = blocksOf(request, turn).flatMap((block, index): StreamEvent[] => [
    { type: 'content_block_start', index, content_block: emptied(block) },
    ...piecesOf(block).map((piece) => ({ type: 'content_block_delta', index, delta: piece })),
    { type: 'content_block_stop', index },
  ]);
  return [
    { type: 'message_start', message: opening(request, turn) },
    { type: 'ping' },
    ...blocks,
    { type: 'message_delta', delta, usage },
    { type: 'message_stop' },
  ];
}

const emptied = (block: Block): Block => (block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} });

/** In pieces, like the real server: programs must join them. */
function piecesOf({ type, text = '', input }: Block): Record<string, unknown>[] {
  if (type === 'text') return cut(text).map((piece) => ({ type: 'text_delta', text: piece }));
  return cut(JSON.stringify(input)).map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
}

function cut(text: string): string[] {
  const size = Math.max(8, Math.ceil(text.length / 6));
  return text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [''];
}
