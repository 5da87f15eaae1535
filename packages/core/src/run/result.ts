import { type AgentEnvelope, JOB_RESULTS, MODES, type Mode, type Outcome } from '@tidemill/contract';
import { problemOfProposal } from '../proposal/problem.ts';
import { specFaults } from '../spec-document/validate.ts';
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
  if (outcome === 'analysed' && envelope.open_questions?.length)
    return 'Feedback is either filed or asked about: use the outcome needs_info with "open_questions", or leave the questions out.';
  return problemOfJob(envelope, mode);
}

/** The success of a job has its result. `no_idea` and the like have none. */
function problemOfJob(envelope: AgentEnvelope, mode: Mode): string | null {
  if (envelope.outcome !== MODES[mode].outcomes[0]) return null;
  const missing = [...MODES[mode].fields].find((field) => field in JOB_RESULTS && envelope[field] === undefined);
  if (missing !== undefined) return `The outcome ${envelope.outcome} needs "${missing}" in the result.`;
  const faults = envelope.spec ? specFaults(envelope.spec) : [];
  if (faults.length > 0) return `The specification cannot be used: ${faults.join('; ')}.`;
  return envelope.proposal ? problemOfProposal(envelope.proposal) : null;
}

/** Why a verdict on a task without criteria does not count. */
export const NOTHING_DERIVED =
  'the task has no acceptance criteria, and it names none that it derived from the title and the description';

/** A criterion that a reviewer derived has a text. */
export const namesCriterion = ({ text }: { text?: string | null }) => (text ?? '').trim() !== '';

function problemOfApproval({ review }: AgentEnvelope, { criteria: given, shown }: ResultExpectation): string | null {
  const judged = review?.criteria ?? [];
  const criteria = given.length > 0 ? given : judged.filter(namesCriterion).map(({ id, text }) => ({ id, text }));
  if (criteria.length === 0)
    return `The approval does not count: ${NOTHING_DERIVED}. "review.criteria" needs an entry with id, text, met and evidence for each.`;
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
