import { z } from 'zod';
import type { AgentSink } from '../../ports.ts';

const count = z.number().nonnegative().nullish().catch(null);
/** Usage in the response to a prompt. It is not yet part of the protocol. */
const TurnUsage = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedReadTokens: count,
  cachedWriteTokens: count,
});
/** Other spellings of it. */
const Quota = z
  .object({ quota: z.object({ token_count: z.object({ input_tokens: count, output_tokens: count }) }) })
  .transform(({ quota: { token_count: tokens } }) => ({
    inputTokens: tokens.input_tokens,
    outputTokens: tokens.output_tokens,
    cachedReadTokens: 0,
    cachedWriteTokens: 0,
  }));
const TurnAnswer = z.object({ usage: TurnUsage.nullish().catch(null), _meta: Quota.nullish().catch(null) });
const SessionCost = z.object({ cost: z.object({ amount: z.number().nonnegative(), currency: z.literal('USD') }) });

/** Costs of sessions so far, by id. Agents report the total, and the total of a resumed session is already recorded. */
export type BookedCosts = Map<string, number>;

/**
 * Reports one session's spending as it becomes known: a request when it is noticed, its price when the session's total
 * grows, its tokens when the turn ends.
 */
export interface Meter {
  hear(update: unknown): void;
  /** A request was sent to the model. */
  request(): void;
  endTurn(answer: unknown, isComplete: boolean): void;
}

/** `before`: the previous cost of the session, or null if unknown. Then its first total is the starting point. */
export function createMeter(session: string, before: number | null, booked: BookedCosts, sink: AgentSink): Meter {
  let known = before;
  /** Requests of this run that are not yet in a total. */
  let unpriced = 0;
  /** Whether a price was reported in this turn. */
  let isPriced = false;
  const settle = (costUsd: number) => {
    if (costUsd > 0 || unpriced > 0) sink.usage({ inputTokens: 0, outputTokens: 0, costUsd, requests: 0 }, unpriced);
    unpriced = 0;
  };
  const price = (sum: number) => {
    const before = known;
    if (sum === 0 && before) return; // not counted yet after a resume
    known = sum;
    booked.set(session, sum);
    if (before === null) return;
    isPriced = true;
    // Some agents count a resumed session from zero again.
    settle(sum < before ? sum : sum - before);
  };
  const request = () => {
    unpriced += 1;
    sink.usage({ inputTokens: 0, outputTokens: 0, costUsd: null, requests: 1 });
  };
  return {
    hear(update) {
      const cost = SessionCost.safeParse(update);
      if (cost.success) price(cost.data.cost.amount);
    },
    request,
    endTurn(answer, isComplete) {
      const told = TurnAnswer.safeParse(answer).data;
      const usage = told?.usage ?? told?._meta;
      const cached = (usage?.cachedReadTokens ?? 0) + (usage?.cachedWriteTokens ?? 0);
      const inputTokens = (usage?.inputTokens ?? 0) + cached;
      const outputTokens = usage?.outputTokens ?? 0;
      if (inputTokens > 0 || outputTokens > 0) sink.usage({ inputTokens, outputTokens, costUsd: null, requests: 0 });
      // The total includes the whole finished turn, also text that arrived after the total.
      if (isComplete && isPriced) settle(0);
      isPriced = false;
    },
  };
}
