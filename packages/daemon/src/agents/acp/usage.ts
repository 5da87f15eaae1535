import { z } from 'zod';
import type { AgentSink } from '../../ports.ts';

const count = z.number().nonnegative().nullish().catch(null);
/** As agents hand it in with the answer to a prompt; the protocol has not settled on it yet. */
const TurnUsage = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedReadTokens: count,
  cachedWriteTokens: count,
});
/** How others spell it, for want of a better place. */
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

/** What sessions have cost so far, by their id: agents tell the sum, and the sum of a resumed session has been booked. */
export type BookedCosts = Map<string, number>;

/**
 * Books one session's spending as it becomes known: a request when it is noticed, its price when the session's sum grows,
 * its tokens when the turn ends.
 */
export interface Meter {
  hear(update: unknown): void;
  /** The model was asked, and has answered or may still do so. */
  request(): void;
  endTurn(answer: unknown, isComplete: boolean): void;
}

/** `before` is what the session had cost, or null when nobody knows: then its first sum is only where to count from. */
export function createMeter(session: string, before: number | null, booked: BookedCosts, sink: AgentSink): Meter {
  let known = before;
  /** Requests of this run that no sum has covered yet. */
  let unpriced = 0;
  /** Whether a price was told in this turn. */
  let isPriced = false;
  const settle = (costUsd: number) => {
    if (costUsd > 0 || unpriced > 0) sink.usage({ inputTokens: 0, outputTokens: 0, costUsd, requests: 0 }, unpriced);
    unpriced = 0;
  };
  const price = (sum: number) => {
    const before = known;
    known = sum;
    booked.set(session, sum);
    if (before === null) return;
    isPriced = true;
    settle(Math.max(0, sum - before));
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
      // A turn that came to its end is in the sum, also what was said after the sum was.
      if (isComplete && isPriced) settle(0);
      isPriced = false;
    },
  };
}
