import { type AgentEnvelope, MODES, type Mode, type Outcome } from '@tidemill/contract';
import { CITATION_RULE, citesSomething, type ShownChange } from './citation.ts';

/** What a result is checked against. For example, an approval must cover every criterion. */
export interface ResultExpectation {
  mode: Mode;
  criteria: readonly { id: string; text: string }[];
  /** Undefined where nothing was shown: then only the engine checks the evidence. */
  shown?: ShownChange;
}

const EVERYWHERE: Outcome[] = ['needs_info', 'failed'];

/** The possible outcomes of a run in this mode. */
export const outcomesOf = (mode: Mode): Outcome[] => [...MODES[mode].outcomes, ...EVERYWHERE];

/** What is wrong with a result and how to correct it, in words for the agent; null when it is valid. */
export function problemOfResult(envelope: AgentEnvelope, expected: ResultExpectation): string | null {
  const { mode } = expected;
  const { outcome } = envelope;
  const allowed = outcomesOf(mode);
  if (!allowed.includes(outcome))
    return `The outcome "${outcome}" is not possible in mode ${mode}; use one of ${allowed.join(', ')}.`;
  if (outcome === 'needs_info' && !envelope.open_questions?.length)
    return 'The outcome needs_info has no question: put what you need to know into "open_questions".';
  if (outcome === 'plan_complete' && !envelope.plan?.trim()) return 'The plan is missing: put all of it into "plan".';
  if (outcome === 'investigation_complete' && !envelope.plan?.trim() && !envelope.investigationSummary?.trim())
    return 'The findings are missing: put them into "investigationSummary", and how to repair it into "plan".';
  if (outcome === 'approved') return problemOfApproval(envelope, expected);
  return null;
}

function problemOfApproval({ review }: AgentEnvelope, { criteria, shown }: ResultExpectation): string | null {
  const judged = review?.criteria ?? [];
  const missing = criteria.filter(({ id }) => !judged.some((verdict) => verdict.id === id));
  const unfounded = criteria.filter(({ id }) => shown && judged.some((verdict) => isUnfounded(verdict, id, shown)));
  const named = (list: typeof missing) => list.map(({ id, text }) => `${id} (${text})`).join(', ');
  if (missing.length > 0)
    return `The approval does not mention ${named(missing)}: "review.criteria" needs an entry with id, met and evidence for each.`;
  if (unfounded.length > 0)
    return `The evidence for ${named(unfounded)} contains nothing that can be checked. ${CITATION_RULE}`;
  return null;
}

const isUnfounded = (verdict: { id: string; met: boolean; evidence: string }, id: string, shown: ShownChange) =>
  verdict.id === id && verdict.met && !citesSomething(verdict.evidence, shown);
