import { z } from 'zod';

// The messages of Claude Code that are used. The vendor often adds fields and kinds: unknown ones are ignored, and so is a known
// message without its fields.

const count = z.number().nonnegative().catch(0);
const text = z.string().catch('');

const Block = z.object({
  type: z.string(),
  /** Of a tool use, and of its result. */
  id: z.string().optional(),
  tool_use_id: z.string().optional(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  content: z.unknown().optional(),
  is_error: z.boolean().optional(),
});
export type Block = z.infer<typeof Block>;
/** A text-only message may be a string. */
const Content = z.union([z.array(Block), z.string().transform((said): Block[] => [{ type: 'text', text: said }])]);

const TokenUsage = z.object({
  input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens: count,
});
export type TokenUsage = z.infer<typeof TokenUsage>;

const Init = z.object({ type: z.literal('system'), subtype: z.literal('init'), session_id: z.string() });
const ApiRetry = z.object({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  retry_delay_ms: z.number(),
  error: text,
});
const Requesting = z.object({
  type: z.literal('system'),
  subtype: z.literal('status'),
  status: z.literal('requesting'),
});
/** The two stream events with token counts: start and end of a message. Messages of subagents are not streamed. */
const Streamed = z.object({
  type: z.literal('stream_event'),
  event: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('message_start'),
      message: z.object({ id: z.string(), model: text, usage: TokenUsage }),
    }),
    z.object({ type: z.literal('message_delta'), usage: TokenUsage }),
  ]),
});
const RateLimit = z.object({
  type: z.literal('rate_limit_event'),
  rate_limit_info: z.object({ status: z.string(), resetsAt: z.number().optional() }),
});
const Assistant = z.object({
  type: z.literal('assistant'),
  parent_tool_use_id: z.string().nullish(),
  /** Set on messages by Claude Code itself in place of a vendor's answer. */
  error: z.string().optional(),
  message: z.object({
    id: z.string(),
    model: text,
    content: Content,
    usage: TokenUsage.optional(),
  }),
});
const User = z.object({
  type: z.literal('user'),
  message: z.object({ content: Content }),
  /** What the tool returned, as data. */
  tool_use_result: z.unknown().optional(),
});

const ModelUsage = z.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
  costUSD: count,
  costBasis: z.string().optional(),
});
export type ModelUsage = z.infer<typeof ModelUsage>;
const ModelUsages = z.record(z.string(), ModelUsage);

const Result = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean().catch(true),
  session_id: text,
  result: text,
  errors: z.array(z.string()).catch([]),
  structured_output: z.unknown().optional(),
  stop_reason: z.string().nullish(),
  terminal_reason: z.string().optional(),
  api_error_status: z.number().nullish(),
  /** Total of the whole session, including resumed runs. */
  modelUsage: ModelUsages.catch({}),
  /** Only in newer versions. */
  model_usage_since_last_result: ModelUsages.optional(),
});
export type ResultMessage = z.infer<typeof Result>;

const ClaudeMessage = z.union([Init, ApiRetry, Requesting, Streamed, RateLimit, Assistant, User, Result]);
export type ClaudeMessage = z.infer<typeof ClaudeMessage>;

export function readMessage(raw: unknown): ClaudeMessage | null {
  if (isPiece(raw)) return null;
  const read = ClaudeMessage.safeParse(raw);
  return read.success ? read.data : null;
}

/** The words of a stream event that has a piece of a text. */
export function pieceIn(raw: unknown): string {
  const { type, event } = raw as {
    type?: unknown;
    event?: { type?: unknown; delta?: { type?: unknown; text?: unknown } };
  };
  const { delta } = type === 'stream_event' && event?.type === 'content_block_delta' ? event : {};
  return delta?.type === 'text_delta' && typeof delta.text === 'string' ? delta.text : '';
}

/** Fast check: most stream events are text fragments, which arrive again as a complete message. */
function isPiece(raw: unknown): boolean {
  const { type, event } = raw as { type?: unknown; event?: { type?: unknown } };
  return type === 'stream_event' && !String(event?.type).startsWith('message_');
}

export const usageIn = (event: Extract<ClaudeMessage, { type: 'stream_event' }>['event']): TokenUsage =>
  event.type === 'message_start' ? event.message.usage : event.usage;
