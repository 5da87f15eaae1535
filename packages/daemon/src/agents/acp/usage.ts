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

/** Books one session's spending: each turn when it ends, or when it is broken off. */
export interface Meter {
  hear(update: unknown): void;
  book(answer: unknown, requests: number): void;
}

/** `before` is what the session had cost, or null when nobody knows: then its first sum is only where to count from. */
export function createMeter(session: string, before: number | null, booked: BookedCosts, sink: AgentSink): Meter {
  let known = before;
  let sum: number | null = null;
  return {
    hear(update) {
      const cost = SessionCost.safeParse(update);
      if (cost.success) sum = cost.data.cost.amount;
    },
    book(answer, requests) {
      const told = TurnAnswer.safeParse(answer).data;
      const usage = told?.usage ?? told?._meta;
      const costUsd = sum === null || known === null ? null : Math.max(0, sum - known);
      const cached = (usage?.cachedReadTokens ?? 0) + (usage?.cachedWriteTokens ?? 0);
      const inputTokens = (usage?.inputTokens ?? 0) + cached;
      const outputTokens = usage?.outputTokens ?? 0;
      if (sum !== null) {
        known = sum;
        booked.set(session, sum);
        sum = null;
      }
      if (requests > 0 || inputTokens > 0 || outputTokens > 0 || costUsd)
        sink.usage({ inputTokens, outputTokens, costUsd, requests: Math.max(1, requests) });
    },
  };
}
