import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Usage } from '@tidemill/contract';
import { z } from 'zod';
import type { Prices, TokenCounts } from '../prices.ts';

export const Tokens = z.looseObject({
  input_tokens: z.number().nonnegative().default(0),
  cached_input_tokens: z.number().nonnegative().default(0),
  cache_write_input_tokens: z.number().nonnegative().default(0),
  output_tokens: z.number().nonnegative().default(0),
});
export type Tokens = z.infer<typeof Tokens>;

const Entry = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('turn_context'), payload: z.looseObject({ model: z.string() }) }),
  z.looseObject({
    type: z.literal('token_usage_record'),
    payload: z.looseObject({ response_id: z.string(), usage: Tokens }),
  }),
]);

interface SessionFile {
  offset: number;
  rest: string;
  model: string;
  /** Tool uses without output so far. */
  openCalls: number;
  /** A request is pending: the model has all its input, and there is no record of its answer. */
  isAsking: boolean;
}

/**
 * The costs of a run's requests, from Codex's session files: one record per model answer, also in failed or stopped
 * turns and in sessions of sub-agents. The summary that Codex prints after a turn lacks these, and includes all runs of
 * a resumed session.
 */
export class SessionCosts {
  requests = 0;
  readonly #folder: string;
  readonly #prices: Prices;
  readonly #book: (usage: Usage) => void;
  readonly #booked = new Set<string>();
  readonly #files = new Map<string, SessionFile>();
  #reading: Promise<void> = Promise.resolve();

  private constructor(home: string, prices: Prices, book: (usage: Usage) => void) {
    this.#folder = path.join(home, 'sessions');
    this.#prices = prices;
    this.#book = book;
  }

  /** Existing records were already reported by an earlier run. */
  static async open(home: string, prices: Prices, book: (usage: Usage) => void): Promise<SessionCosts> {
    let isOpen = false;
    const costs = new SessionCosts(home, prices, (usage) => isOpen && book(usage));
    await costs.catchUp();
    isOpen = true;
    costs.requests = 0;
    for (const file of costs.#files.values()) file.isAsking = false;
    return costs;
  }

  /** Reports new records since the last call. */
  catchUp(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#read());
    return this.#reading;
  }

  /** Fallback without session files: the printed summary, if it covers only this run. */
  bookTurn(tokens: Tokens, isResumed: boolean, model: string): void {
    if (this.requests > 0) return;
    const counts = isResumed ? { input: 0, cached: 0, cacheWrite: 0, output: 0 } : countsOf(tokens);
    this.#spend(counts, isResumed ? null : this.#prices.costUsd(model, counts));
  }

  /** The turn was aborted. A pending request costs money, but the amount is unknown. */
  breakOff(): void {
    for (const file of this.#files.values()) {
      if (file.isAsking) this.#spend(countsOf(Tokens.parse({})), null);
      file.isAsking = false;
    }
  }

  async #read(): Promise<void> {
    const names = await readdir(this.#folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names.filter((file) => file.endsWith('.jsonl')).sort()) await this.#readFile(name);
  }

  async #readFile(name: string): Promise<void> {
    const known = this.#files.get(name) ?? { offset: 0, rest: '', model: '', openCalls: 0, isAsking: false };
    this.#files.set(name, known);
    const file = await open(path.join(this.#folder, name));
    try {
      const size = (await file.stat()).size;
      if (size <= known.offset) return;
      const buffer = Buffer.alloc(size - known.offset);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, known.offset);
      known.offset += bytesRead;
      // A split character can only be in text, which is not read here. The line stays valid JSON.
      const lines = (known.rest + buffer.toString('utf8', 0, bytesRead)).split('\n');
      known.rest = lines.pop() ?? '';
      for (const line of lines) this.#take(line, known);
    } finally {
      await file.close();
    }
  }

  #take(line: string, file: SessionFile): void {
    follow(line.slice(0, HEAD), file);
    if (!/"type":"(turn_context|token_usage_record)"/.test(line)) return;
    const entry = Entry.safeParse(parsed(line));
    if (!entry.success) return;
    if (entry.data.type === 'turn_context') {
      file.model = entry.data.payload.model;
      return;
    }
    const { response_id, usage } = entry.data.payload;
    if (this.#booked.has(response_id)) return;
    this.#booked.add(response_id);
    const counts = countsOf(usage);
    this.#spend(counts, this.#prices.costUsd(file.model, counts));
  }

  #spend(counts: TokenCounts, costUsd: number | null): void {
    this.requests += 1;
    this.#book({ inputTokens: counts.input, outputTokens: counts.output, costUsd, requests: 1 });
  }
}

const HEAD = 400;
const FROM_MODEL = /"type":"response_item","payload":\{"type":"(?:function_call|custom_tool_call|local_shell_call)"/;
const FROM_TOOL = /"type":"response_item","payload":\{"type":"\w+_output"/;
const FROM_PERSON = /"type":"response_item","payload":\{"type":"message",[^{}]*"role":"(?:user|developer)"/;
const IS_OVER =
  /"type":"token_usage_record"|"type":"event_msg","payload":\{"type":"(?:task_complete|turn_aborted|error)"/;

/** Whether Codex waits for its model. Reads only the beginning of each line, because lines may have megabytes. */
function follow(head: string, file: SessionFile): void {
  if (FROM_MODEL.test(head)) file.openCalls += 1;
  else if (FROM_TOOL.test(head)) {
    file.openCalls = Math.max(0, file.openCalls - 1);
    file.isAsking = file.openCalls === 0;
  } else if (FROM_PERSON.test(head)) file.isAsking = true;
  else if (IS_OVER.test(head)) file.isAsking = false;
}

const countsOf = (tokens: Tokens): TokenCounts => ({
  input: tokens.input_tokens,
  cached: tokens.cached_input_tokens,
  cacheWrite: tokens.cache_write_input_tokens,
  output: tokens.output_tokens,
});

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // a line of an unknown version is ignored
  }
}
