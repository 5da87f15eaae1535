import type { AgentSink } from '../../ports.ts';
import type { Prices } from '../prices.ts';
import type { ModelUsage, ResultMessage, TokenUsage } from './messages.ts';

type Totals = Record<string, ModelUsage>;

/** The known facts of a request. */
interface KnownRequest {
  usage: TokenUsage;
  /** By the price table; null for a model that is not in it. */
  costUsd: number | null;
}

const NOTHING = { input: 0, output: 0, costUsd: 0, requests: 0, unpriced: 0 };

/**
 * What a conversation costs, request by request:
 *
 *   asks ──▶ answer begins (input) ──▶ answer ends (output) ─┐
 *     │             └──broken off: what was told stays ───────┼──▶ result: what is missing, and the vendor's own price
 *     └──broken off before an answer: one request, no price ──┘
 *
 * The totals of a result include the resumed session, so only the increase counts.
 */
export class RequestCosts {
  readonly #tell: AgentSink['usage'];
  readonly #prices: Prices;
  readonly #known = new Map<string, KnownRequest>();
  /** Since the last result. */
  #told = { ...NOTHING };
  #last: KnownRequest | null = null;
  /** Start time of a pending request without an answer, or null. */
  #askingFrom: number | null = null;
  /** Null: the totals of the resumed session before this conversation are unknown. */
  #totals: Totals | null;

  constructor(prices: Prices, isResumed: boolean, tell: AgentSink['usage']) {
    this.#prices = prices;
    this.#totals = isResumed ? null : {};
    this.#tell = tell;
  }

  /** A request is sent, at once or after the wait before a retry. */
  asks(at: number): void {
    this.#askingFrom = at;
  }

  /** The vendor answered with an error, which costs nothing. */
  refused(): void {
    this.#askingFrom = null;
  }

  /** An answer is reported several times with the same id and growing usage. */
  answer(id: string, model: string, told: TokenUsage): void {
    this.#askingFrom = null;
    const before = this.#known.get(id);
    const usage = before ? larger(before.usage, told) : told;
    const costUsd = this.#prices.costUsd(model, {
      input: inputOf(usage),
      cached: usage.cache_read_input_tokens,
      cacheWrite: usage.cache_creation_input_tokens,
      output: usage.output_tokens,
    });
    this.#last = { usage, costUsd };
    this.#known.set(id, this.#last);
    this.#book({
      input: inputOf(usage) - (before ? inputOf(before.usage) : 0),
      output: usage.output_tokens - (before?.usage.output_tokens ?? 0),
      costUsd: costUsd === null ? null : Math.max(0, costUsd - (before?.costUsd ?? 0)),
      requests: before ? 0 : 1,
    });
  }

  settle(result: ResultMessage): void {
    const added = result.model_usage_since_last_result ?? this.#added(result.modelUsage);
    this.#totals = result.modelUsage;
    const [told, last] = [this.#told, this.#last];
    this.#told = { ...NOTHING };
    this.#last = null;
    if (added === null) return;
    const models = Object.entries(added);
    const sum = (pick: (usage: ModelUsage) => number) => models.reduce((total, [, usage]) => total + pick(usage), 0);
    const input = sum(totalInputOf);
    // Claude Code omits an aborted request. Its reported usage stays.
    const leftOut = input < told.input ? last : null;
    const costs = models.map(([model, usage]) => this.#cost(model, usage));
    const costUsd = costs.includes(null) ? null : costs.reduce<number>((total, cost) => total + (cost ?? 0), 0);
    const bookedUsd = told.costUsd - (leftOut?.costUsd ?? 0);
    this.#tell(
      {
        inputTokens: Math.max(0, input - told.input),
        outputTokens: Math.max(0, sum(({ outputTokens }) => outputTokens) - told.output),
        costUsd: costUsd === null ? null : Math.max(0, costUsd - bookedUsd),
        // A request without earlier reports.
        requests: told.requests === 0 && input > 0 ? 1 : 0,
      },
      costUsd === null ? 0 : told.unpriced - (leftOut && leftOut.costUsd === null ? 1 : 0),
    );
  }

  /** The conversation was aborted. A pending request costs money, but the amount is unknown. */
  breakOff(now: number): void {
    if (this.#askingFrom === null || this.#askingFrom > now) return;
    this.#askingFrom = null;
    this.#book({ input: 0, output: 0, costUsd: null, requests: 1 });
  }

  #book({ input, output, costUsd, requests }: Spent): void {
    if (input === 0 && output === 0 && requests === 0) return;
    this.#told.input += input;
    this.#told.output += output;
    this.#told.costUsd += costUsd ?? 0;
    this.#told.requests += requests;
    if (costUsd === null) this.#told.unpriced += requests;
    this.#tell({ inputTokens: input, outputTokens: output, costUsd, requests });
  }

  #added(totals: Totals): Totals | null {
    const before = this.#totals;
    if (before === null) return null;
    return Object.fromEntries(
      Object.entries(totals).map(([model, now]) => [model, before[model] ? difference(now, before[model]) : now]),
    );
  }

  /** The repository's own price has priority, then Claude Code's, unless that is an estimate. */
  #cost(model: string, usage: ModelUsage): number | null {
    if (usage.costBasis !== 'unknown' && !this.#prices.isOwn(model)) return usage.costUSD;
    const { cacheReadInputTokens: cached, cacheCreationInputTokens: cacheWrite, outputTokens: output } = usage;
    return this.#prices.costUsd(model, { input: totalInputOf(usage), cached, cacheWrite, output });
  }
}

interface Spent {
  input: number;
  output: number;
  costUsd: number | null;
  requests: number;
}

const inputOf = (usage: TokenUsage) =>
  usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
const totalInputOf = (usage: ModelUsage) =>
  usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens;

const larger = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  input_tokens: Math.max(a.input_tokens, b.input_tokens),
  cache_read_input_tokens: Math.max(a.cache_read_input_tokens, b.cache_read_input_tokens),
  cache_creation_input_tokens: Math.max(a.cache_creation_input_tokens, b.cache_creation_input_tokens),
  output_tokens: Math.max(a.output_tokens, b.output_tokens),
});

/** Totals that shrink were restarted. */
function difference(now: ModelUsage, before: ModelUsage): ModelUsage {
  if (now.costUSD < before.costUSD) return now;
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    cacheReadInputTokens: now.cacheReadInputTokens - before.cacheReadInputTokens,
    cacheCreationInputTokens: now.cacheCreationInputTokens - before.cacheCreationInputTokens,
    costUSD: now.costUSD - before.costUSD,
    costBasis: now.costBasis,
  };
}
