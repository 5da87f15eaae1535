import { ENGINE, type EventBody, type Evidence, isBlocking, type Question, type Run } from '@tidemill/contract';
import { fingerprintOf } from '../pipeline/fingerprint.ts';
import { isInfrastructure, needsPerson } from '../pipeline/policy.ts';
import { type Drawn, drawn } from './drawn.ts';
import { failureEssence } from './failure.ts';
import { ofAnswer, ofQuestion } from './of-question.ts';

/** What an event refers to, as far as a trace needs it. */
export interface EventFacts {
  run: Run | null;
  question: Question | null;
  /** The output of the gate, as an agent gets to read it. Empty: there is none. */
  gateOutput: string;
  /** The gate passed on the same tree when it was run again. */
  isFlake: boolean;
  /** The person's note came with a decision against the work. */
  isRejection: boolean;
  hash(text: string): string;
}

type Draw<T extends EventBody['type']> = (body: Extract<EventBody, { type: T }>, facts: EventFacts) => Drawn | null;

/** Reasons that say nothing about the work: somebody's decision, or the environment. */
const UNTOLD = ['conflict', 'unverified_gate', 'no_transition', 'no_criteria', 'skipped'];
const UNTOLD_FAILURES = ['unverified_gate', 'workspace', 'spawn', 'budget_limit'];

/** One line for each event that is worth a trace. No model is asked, so that it costs no token. */
const DRAWS: { [T in EventBody['type']]?: Draw<T> } = {
  'guard.denied': ({ guard, tool, reason }) =>
    drawn('violation', 'guard', `guard:${guard}:${tool}`, `The guard ${guard} refused ${tool}: ${reason}`),
  'evidence.recorded': ({ evidence }, facts) => ofGate(evidence, facts),
  'run.finished': ofRun,
  'task.blocked': ({ reason, text }) =>
    UNTOLD.includes(reason) ? null : drawn('failure', 'engine', `blocked:${reason}`, `The task is blocked: ${text}`),
  'question.asked': ({ question }) => ofQuestion(question),
  'question.answered': ({ answer }, { question }) => (question ? ofAnswer(question, answer) : null),
  'task.matter_approved': ({ matters, checks, losses, pull, by }) => {
    const what = [
      ...matters,
      ...(checks ? ['changed checks'] : []),
      ...(losses ? ['dropped lines'] : []),
      ...(pull ? ['its pull request'] : []),
    ].join(', ');
    return drawn('approval', 'person', `approved:${what || 'plan'}`, `Approved: ${what || 'the plan'}`, { by });
  },
  'task.moved': ({ from, to, because }) =>
    because.startsWith('approved by ')
      ? drawn('approval', 'person', `approved:${from}`, `${from} → ${to}, ${because}`)
      : null,
  'task.noted': ({ entry }, { isRejection, hash }) => {
    if (entry.source !== 'person' || entry.entryType !== 'note') return null;
    const by = entry.by ? { by: entry.by } : {};
    if (!isRejection)
      return drawn('note', 'person', `note:${fingerprintOf('note', entry.summary, hash)}`, entry.summary, by);
    const what = 'A person sent the work back.';
    const key = `rejected:${fingerprintOf('note', entry.summary, hash)}`;
    return drawn('correction', 'person', key, what, { ...by, correct: entry.summary });
  },
  'feedback.given': ({ text, by }, { hash }) =>
    drawn('note', 'person', `feedback:${fingerprintOf('note', text, hash)}`, text, { by }),
  'spec.approved': ({ version, overridden, by }) =>
    drawn('approval', 'person', 'approved:spec', `Approved version ${version} of a specification`, {
      by,
      why: overridden.length > 0 ? `In spite of: ${overridden.join('; ')}` : null,
    }),
  'spec.rejected': ({ why, by }) =>
    drawn('correction', 'person', 'rejected:spec', 'Rejected a specification', { by, why: why || null }),
  'spec.revision_requested': ({ comments, version, by }) =>
    drawn('correction', 'person', 'revised:spec', `Requested changes to version ${version} of a specification`, {
      by,
      correct: comments.map(({ quote, text }) => (quote ? `${quote}: ${text}` : text)).join('\n'),
    }),
  'spec.accepted': ({ by }) =>
    drawn('decision', 'person', 'accepted:spec', 'Accepted a specification of which not everything is met', { by }),
  'proposal.accepted': ({ number, by }) =>
    by.kind === 'engine'
      ? null
      : drawn('approval', 'person', 'approved:proposal', `Approved proposal ${number} of the loop`, { by }),
  'proposal.refused': ({ number, why, by }) =>
    by.kind === 'engine'
      ? null
      : drawn('decision', 'person', 'refused:proposal', `Refused proposal ${number} of the loop`, { by, why }),
  'idea.corrected': ({ artifact, decision, risk, by }) => {
    const what = artifact?.type ?? (decision ? 'a decision' : risk ? 'a risk' : 'the confidence');
    const correct = artifact?.summary ?? decision?.text ?? risk?.text ?? null;
    return drawn('correction', 'person', `corrected:idea:${what}`, `Corrected ${what} of an idea`, { by, correct });
  },
  'conflict.settled': ({ files, by }) =>
    drawn('decision', 'person', 'settled:conflict', 'Resolved a merge conflict by hand', { by, files }),
};

/** The events that a trace can come from. */
export const TRACED_EVENTS = Object.keys(DRAWS) as EventBody['type'][];

/** What an event says as a trace; null when it is not worth one. */
export function drawTrace(body: EventBody, facts: EventFacts): Drawn | null {
  const draw = DRAWS[body.type] as Draw<EventBody['type']> | undefined;
  return draw?.(body, facts) ?? null;
}

function ofGate(evidence: Evidence, facts: EventFacts): Drawn | null {
  const { gate, status, command, exitCode, counts } = evidence;
  // A failed gate is run twice: that is one failure.
  if (status !== 'fail' || evidence.attempt > 1 || !isBlocking(evidence) || facts.isFlake) return null;
  const failed = counts ? `, ${counts.failed} of ${counts.failed + counts.passed} failed` : '';
  const text = facts.gateOutput || `${command}${failed}`;
  const key = `gate:${gate}:${fingerprintOf('gate', failureEssence(text), facts.hash)}`;
  const what = `Gate ${gate} failed${exitCode === null ? '' : ` with exit code ${exitCode}`}${failed}.`;
  return drawn('failure', 'gate', key, facts.gateOutput ? `${what}\n${facts.gateOutput}` : what, {
    why: command,
    by: ENGINE,
  });
}

function ofRun(body: Extract<EventBody, { type: 'run.finished' }>, { run, hash }: EventFacts): Drawn | null {
  const { outcome, failure, message, envelope } = body;
  if (run?.mode === 'review' && outcome === 'changes_requested') {
    const unmet = (envelope?.review?.criteria ?? []).filter(({ met }) => !met);
    const points = [...(envelope?.review?.comments ?? []), ...unmet.map(({ id, evidence }) => `${id}: ${evidence}`)];
    const text = points.join('\n') || envelope?.summary || message;
    const what = `The review requested changes${unmet.length > 0 ? `; not met: ${unmet.map(({ id }) => id).join(', ')}` : ''}.`;
    return drawn('correction', 'review', `review:${fingerprintOf('review', text, hash)}`, what, { correct: text });
  }
  if (failure === null || isInfrastructure(failure) || needsPerson(failure) || UNTOLD_FAILURES.includes(failure))
    return null;
  const mode = run?.mode ?? 'run';
  return drawn('failure', 'engine', `run:${mode}:${failure}`, `A run (${mode}) failed, ${failure}: ${message}`);
}
