import type { Usage } from '@tidemill/contract';
import type { Prices } from '../prices.ts';
import type { AssistantMessage, ModelUsage, ResultMessage } from './messages.ts';

type Totals = Record<string, ModelUsage>;

/**
 * What a conversation costs. Each request is told when its answer begins, with the tokens known by then; the result
 * that ends a turn brings what is missing and the price. Its totals go on from those of the session it resumed, so that
 * only what has been added since may be booked.
 */
export class Ledger {
  readonly #tell: (usage: Usage) => void;
  readonly #prices: Prices;
  readonly #seen = new Set<string>();
  #told = { input: 0, output: 0, requests: 0 };
  /** Null: a resumed session's totals before this conversation, which nobody knows. */
  #totals: Totals | null;

  constructor(prices: Prices, isResumed: boolean, tell: (usage: Usage) => void) {
    this.#prices = prices;
    this.#totals = isResumed ? null : {};
    this.#tell = tell;
  }

  /** Streamed answers arrive block by block, all under the id of their request. */
  answer({ message: { id, model, usage } }: AssistantMessage): void {
    if (model === '<synthetic>' || !usage || this.#seen.has(id)) return;
    this.#seen.add(id);
    const input = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
    const output = usage.output_tokens;
    const { input: before, output: spoken, requests } = this.#told;
    this.#told = { input: before + input, output: spoken + output, requests: requests + 1 };
    this.#tell({ inputTokens: input, outputTokens: output, costUsd: null, requests: 1 });
  }

  settle(result: ResultMessage): void {
    const added = result.model_usage_since_last_result ?? this.#added(result.modelUsage);
    this.#totals = result.modelUsage;
    const told = this.#told;
    this.#told = { input: 0, output: 0, requests: 0 };
    if (added === null) return;
    const models = Object.entries(added);
    const sum = (pick: (usage: ModelUsage) => number) => models.reduce((total, [, usage]) => total + pick(usage), 0);
    const input = sum(inputOf);
    const costs = models.map(([model, usage]) => this.#cost(model, usage));
    this.#tell({
      inputTokens: Math.max(0, input - told.input),
      outputTokens: Math.max(0, sum(({ outputTokens }) => outputTokens) - told.output),
      costUsd: costs.includes(null) ? null : costs.reduce<number>((total, cost) => total + (cost ?? 0), 0),
      // A request whose answer broke off before its first word is paid for all the same.
      requests: told.requests === 0 && input > 0 ? 1 : 0,
    });
  }

  #added(totals: Totals): Totals | null {
    const before = this.#totals;
    if (before === null) return null;
    return Object.fromEntries(
      Object.entries(totals).map(([model, now]) => [model, before[model] ? difference(now, before[model]) : now]),
    );
  }

  /** The repository's own price wins; a sum that Claude Code itself only guessed is no price. */
  #cost(model: string, usage: ModelUsage): number | null {
    const { cacheReadInputTokens: cached, cacheCreationInputTokens: cacheWrite, outputTokens: output } = usage;
    const own = this.#prices.costUsd(model, { input: inputOf(usage), cached, cacheWrite, output });
    return own ?? (usage.costBasis === 'unknown' ? null : usage.costUSD);
  }
}

const inputOf = (usage: ModelUsage) => usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens;

/** Totals that shrink have been started anew. */
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
