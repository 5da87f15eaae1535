import type { AgentEnvelope, Criterion, FailureClass, Outcome, Task } from '@tidemill/contract';
import { citesSomething, type ShownChange } from './citation.ts';
import { NOTHING_DERIVED, namesCriterion } from './result.ts';

/** How a run ended; `criteria` and `comments` when it ended in a verdict. */
export interface Verdict {
  outcome: Outcome;
  failure?: FailureClass;
  message: string;
  criteria?: Criterion[];
  comments?: string;
}

/**
 * A review counts only with a verdict on each criterion. "Approved" with an unmet criterion is a request for changes. A
 * verdict that omits a criterion, or calls one met without evidence, is invalid. For a task without criteria the reviewer
 * derives them from its title and description; they become the task's.
 */
export function judge(judged: Task, reply: AgentEnvelope | null, proposed: Outcome, shown: ShownChange): Verdict {
  const { task, envelope } = judged.criteria.length > 0 ? { task: judged, envelope: reply } : derived(judged, reply);
  if (proposed === 'approved' && task.criteria.length === 0)
    return { outcome: 'failed', failure: 'invalid_result', message: `the review is no verdict: ${NOTHING_DERIVED}` };
  const verdicts = verdictsOf(envelope);
  const missing = task.criteria.filter((criterion) => !verdicts.has(criterion.id));
  if (proposed === 'approved' && missing.length > 0) {
    const ids = missing.map((criterion) => criterion.id).join(', ');
    return { outcome: 'failed', failure: 'invalid_result', message: `the review has no verdict on criterion ${ids}` };
  }
  const isUnfounded = ({ id }: Criterion) => {
    const verdict = verdicts.get(id);
    return verdict?.met === true && !citesSomething(verdict.evidence, shown);
  };
  const unmetByWord = task.criteria.some(({ id }) => verdicts.get(id)?.met === false);
  const unfounded = task.criteria.filter(isUnfounded);
  if (proposed === 'approved' && !unmetByWord && unfounded.length > 0) {
    const ids = unfounded.map(({ id }) => id).join(', ');
    const message = `the review calls ${ids} met without evidence: it names no changed file and no gate, and quotes nothing`;
    return { outcome: 'failed', failure: 'invalid_result', message };
  }
  const criteria = task.criteria.map((criterion) => {
    const verdict = verdicts.get(criterion.id);
    if (!verdict) return criterion;
    const { met, evidence } = verdict;
    // Whether it is met is unknown; a later review must decide.
    return { ...criterion, met: isUnfounded(criterion) ? null : met, evidence };
  });
  const unmet = criteria.filter((criterion) => criterion.met === false && verdicts.has(criterion.id));
  const isApproved = proposed === 'approved' && unmet.length === 0;
  const comments = [
    ...unmet.map((criterion) => `Not met: ${criterion.text}${criterion.evidence ? ` (${criterion.evidence})` : ''}`),
    ...(envelope?.review?.comments ?? []),
  ];
  if (comments.length === 0) comments.push(envelope?.summary || 'The reviewer asked for changes without saying which.');
  return {
    outcome: isApproved ? 'approved' : 'changes_requested',
    message: envelope?.summary ?? '',
    criteria,
    comments: comments.join('\n'),
  };
}

/** The task and the verdict with the criteria that the verdict names. Their ids are ours: an agent's may repeat. */
function derived(task: Task, envelope: AgentEnvelope | null): { task: Task; envelope: AgentEnvelope | null } {
  if (!envelope?.review) return { task, envelope };
  const named = envelope.review.criteria
    .filter(namesCriterion)
    .slice(0, MOST_DERIVED)
    .map((verdict, index) => ({ ...verdict, id: `C${index + 1}`, text: verdict.text!.trim() }));
  const criteria = named.map(({ id, text }) => ({ id, text, met: null, evidence: '', isDerived: true as const }));
  return { task: { ...task, criteria }, envelope: { ...envelope, review: { ...envelope.review, criteria: named } } };
}

/** More are a sign of a list that judges nothing. */
const MOST_DERIVED = 50;

/** By criterion. Both "met" and "not met" for the same criterion count as "not met". */
function verdictsOf(envelope: AgentEnvelope | null) {
  const judged = envelope?.review?.criteria ?? [];
  return new Map([...judged].sort((a, b) => Number(b.met) - Number(a.met)).map((verdict) => [verdict.id, verdict]));
}
