import type {
  BlockReason,
  EventBody,
  FailureClass,
  Feedback,
  Outcome,
  ProjectRules,
  Stage,
  Task,
} from '@tidemill/contract';
import type { DecideEnv } from '../command.ts';
import type { Slice } from '../slice.ts';
import { deadEnd } from './dead-end.ts';
import { enter } from './enter.ts';
import { failureText, fingerprintOf, SAME_FAILURE_LIMIT } from './fingerprint.ts';
import { conflictLimitAlert, whyForPerson } from './open-conflict.ts';
import { type FoundConflict, type Overtaking, overtaking } from './overtaken.ts';
import { backoffMs, isInfrastructure, MAX_RETURNS, MAX_REVIEW_CYCLES, needsPerson, RETRY_POLICY } from './policy.ts';
import { sentence } from './sentence.ts';
import { stageOf } from './stage.ts';

export interface End {
  outcome: Outcome;
  failure?: FailureClass;
  message: string;
  feedback?: Feedback[];
  retryAt?: number;
  tree?: string;
  conflict?: FoundConflict;
}

interface Ending {
  slice: Slice;
  rules: ProjectRules;
  task: Task;
  stage: Stage;
  end: End;
  env: DecideEnv;
}

/** What a stage's outcome leads to. The caller adds the release of the lease. */
export function endStage(slice: Slice, rules: ProjectRules, task: Task, end: End, env: DecideEnv): EventBody[] {
  const events = outcomeOf(slice, rules, task, end, env);
  return [...events, ...conflictLimitAlert(events, slice.count('openConflicts', task.projectId))];
}

function outcomeOf(slice: Slice, rules: ProjectRules, task: Task, end: End, env: DecideEnv): EventBody[] {
  const stage = stageOf(rules, task);
  if (!stage) return noTransition(task, end.outcome);
  const ending = { slice, rules, task, stage, end, env };
  switch (end.outcome) {
    case 'interrupted':
      return [];
    case 'needs_info':
      // question/at-end parks the task. A stage without an agent cannot ask.
      return stage.actor === 'agent' ? [] : noTransition(task, end.outcome);
    case 'failed':
      return stage.actor === 'agent'
        ? retryOrAsk(ending)
        : sendBack(ending, 'failed', stage.actor === 'system' ? stage.does : 'verify');
    case 'conflicts_detected':
      return conflict(ending);
    case 'changes_requested':
      return requestChanges(ending);
    case 'no_changes':
      return follow(ending, {
        reason: 'no_changes',
        text: `Nothing was changed${end.message ? ` (${end.message})` : ''}. Describe the task in more detail and retry it, or cancel it.`,
      });
    case 'plan_complete':
    case 'investigation_complete':
    case 'pr_ready':
    case 'approved':
      return follow(ending);
    default:
      // The outcome of a job.
      return noTransition(task, end.outcome);
  }
}

function follow(ending: Ending, block?: { reason: BlockReason; text: string }): EventBody[] {
  const { slice, rules, task, stage, end } = ending;
  const to = (stage.on as Partial<Record<Outcome, string>>)[end.outcome] ?? (block ? 'blocked' : null);
  if (!to) return noTransition(task, end.outcome);
  return enter(slice, rules, task, { to, because: end.outcome, tree: end.tree, block });
}

/** An outcome without a transition. */
function noTransition(task: Task, outcome: Outcome): EventBody[] {
  const text = `Stage ${task.stage} of pipeline ${task.pipeline} ended in ${outcome}, and the pipeline has no transition for it.`;
  return deadEnd(task, text);
}

function retryOrAsk(ending: Ending): EventBody[] {
  const { task, end, env } = ending;
  const failure = end.failure ?? 'unknown';
  const count = (task.counters.failures[failure] ?? 0) + 1;
  if (needsPerson(failure)) {
    const why = `${sentence(end.message) || `The agent refuses access (${failure}).`} Repair this, then retry.`;
    // The agent waits, and all its tasks with it. They continue when a person has repaired the agent.
    return [{ type: 'task.waiting', taskId: task.id, why, until: end.retryAt ?? env.now }];
  }
  const seen = isInfrastructure(failure) ? null : recognise(ending, failure);
  const feedback: EventBody[] = end.feedback?.length
    ? [{ type: 'task.feedback_given', taskId: task.id, feedback: end.feedback }]
    : [];
  const mayRetry = count <= RETRY_POLICY[failure].retries;
  if (mayRetry && !seen?.isStuck) {
    // The vendor's own retry time is used once. After that the usual backoff applies, too.
    const isTrusted = end.retryAt !== undefined && count === 1;
    const notBefore = Math.max(end.retryAt ?? 0, isTrusted ? env.now : env.now + backoffMs(failure, count));
    return [
      ...feedback,
      ...(seen?.events ?? []),
      { type: 'failure.counted', taskId: task.id, failure, count, notBefore },
    ];
  }
  const reason: BlockReason =
    mayRetry || failure === 'no_progress'
      ? 'no_progress'
      : failure === 'validation'
        ? 'validation'
        : failure === 'unverified_gate'
          ? 'unverified_gate'
          : 'agent_failed';
  const text = `${sentence(end.message) || `The agent failed (${failure}).`} Tried ${count === 1 ? 'once' : `${count} times`}; retry it with a note, or cancel it.`;
  const counted: EventBody = { type: 'failure.counted', taskId: task.id, failure, count, notBefore: 0 };
  const to = (ending.stage.on as Partial<Record<Outcome, string>>).failed ?? 'blocked';
  return [
    ...feedback,
    ...(seen?.events ?? []),
    counted,
    ...enter(ending.slice, ending.rules, task, { to, because: `failed: ${failure}`, block: { reason, text } }),
  ];
}

/** The no-progress breaker: a person must look at a failure that repeats. */
function recognise({ task, end, env }: Ending, kind: string): { events: EventBody[]; isStuck: boolean } {
  const fingerprint = fingerprintOf(kind, failureText(end.message, end.feedback), env.hash);
  const count = (task.counters.fingerprints[fingerprint] ?? 0) + 1;
  return {
    events: [{ type: 'failure.recognised', taskId: task.id, fingerprint, count }],
    isStuck: count >= SAME_FAILURE_LIMIT,
  };
}

/** From a system stage back to the builder, at most MAX_RETURNS times. An overtaken resolution is no failure of the task. */
function sendBack(
  ending: Ending,
  outcome: 'failed' | 'conflicts_detected',
  kind: string,
  overtaken?: Overtaking,
): EventBody[] {
  const { slice, rules, task, stage, end } = ending;
  const isCounted = !overtaken?.isOvertaken;
  const count = (task.counters.failures[kind] ?? 0) + (isCounted ? 1 : 0);
  const isTooOften = count > MAX_RETURNS || overtaken?.isTooOften === true;
  // An agent cannot repair a gate that cannot run.
  const isForAgent = end.failure !== 'unverified_gate';
  const feedback = end.feedback?.length ? end.feedback : [{ kind: 'gate' as const, text: end.message, files: [] }];
  // The same files may conflict several times, each time with newer work.
  const seen = kind === 'conflict' ? { events: [], isStuck: false } : recognise(ending, kind);
  const events: EventBody[] = [
    ...seen.events,
    ...(overtaken?.events ?? []),
    ...(isCounted ? [{ type: 'failure.counted' as const, taskId: task.id, failure: kind, count, notBefore: 0 }] : []),
    ...(isForAgent ? [{ type: 'task.feedback_given' as const, taskId: task.id, feedback }] : []),
  ];
  const next = (stage.on as Partial<Record<Outcome, string>>)[outcome] ?? 'blocked';
  const to = isForAgent && !isTooOften && !seen.isStuck ? next : 'blocked';
  const reason: BlockReason = !isForAgent
    ? 'unverified_gate'
    : seen.isStuck
      ? 'no_progress'
      : kind === 'conflict'
        ? 'conflict'
        : 'validation';
  const often = seen.isStuck
    ? ` The same failure occurred ${SAME_FAILURE_LIMIT} times.`
    : count > MAX_RETURNS
      ? ` It came back ${count} times.`
      : '';
  const text = `${end.message}${overtaken?.text ?? ''}${often} A person must decide how to continue.`;
  return [...events, ...enter(slice, rules, task, { to, because: outcome, block: { reason, text } })];
}

function conflict(ending: Ending): EventBody[] {
  const { task, end, rules, slice } = ending;
  const files = end.feedback?.flatMap((feedback) => feedback.files) ?? [];
  const why = whyForPerson(files, rules);
  const overtaken = overtaking(task, end.conflict, files);
  if (why === null) return sendBack(ending, 'conflicts_detected', 'conflict', overtaken);
  const text = `Conflicts with ${rules.target} in ${files.join(', ')}; ${why}. Resolve them: \`tidemill conflicts show ${task.number}\`, or on the page.`;
  return [
    ...overtaken.events,
    // The person who resolves it finds the files here.
    { type: 'task.feedback_given', taskId: task.id, feedback: end.feedback ?? [] },
    ...enter(slice, rules, task, { to: 'blocked', because: 'conflicts_detected', block: { reason: 'conflict', text } }),
  ];
}

function requestChanges(ending: Ending): EventBody[] {
  const { task, end, stage } = ending;
  if (!('changes_requested' in stage.on)) return noTransition(task, end.outcome);
  const cycle = task.counters.reviewCycles + 1;
  const feedback = end.feedback?.length ? end.feedback : [{ kind: 'review' as const, text: end.message, files: [] }];
  const given: EventBody = { type: 'task.feedback_given', taskId: task.id, feedback };
  if (cycle < MAX_REVIEW_CYCLES) return [given, ...follow(ending)];
  const builder = task.context.findLast((entry) => entry.source === 'agent')?.summary ?? 'nothing on record';
  const text = `Rejected ${cycle} times.\nThe reviewer: ${feedback.map((f) => f.text).join('\n')}\nThe builder: ${builder}\nApprove it, reject it with a note, or cancel it.`;
  const block = { reason: 'review_escalation' as const, text };
  return [
    given,
    ...enter(ending.slice, ending.rules, task, { to: 'blocked', because: 'review cycles used up', block }),
  ];
}
