import {
  type AgentEnvelope,
  type EventBody,
  type Mode,
  type Outcome,
  type Project,
  type Run,
  UNKNOWN_REQUEST_USD,
} from '@tidemill/contract';
import { afterSpending, estimateOf, shortageFor, sizeOf, sizeOfInput } from '../budget/budget.ts';
import { budgetAccountsOf } from '../budget/period.ts';
import { bounded, finalUsage, moreUsd, withinReserve } from '../budget/usage.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { handedOff, problemOfHandOff } from '../hand-off/task.ts';
import { endJobRun } from '../job/job.ts';
import { endStage } from '../pipeline/end-stage.ts';
import { stageOf } from '../pipeline/stage.ts';
import { askAtEnd, stageAfter } from '../question/at-end.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { aboutWork, type FoundWork, fencedWork, findWork, isJob, nameOf, released, type Work } from '../work.ts';
import { judge, type Verdict } from './verdict.ts';

export function startRun(slice: Slice, command: CommandOf<'run.start'>, env: DecideEnv): Decision {
  const checked = fencedWork(slice, command);
  if (!checked.ok) return checked;
  const { work, project } = checked;
  const place = placeOf(project, work, command.mode);
  if ('refusal' in place) return place;
  if (slice.runs.ifLoaded(work.lastRunId ?? '')?.status === 'running')
    return refuse('conflict', `run ${work.lastRunId} of ${nameOf(work)} is still running`);
  const { runId, mode, agent } = command;
  const budgets = budgetAccountsOf(slice, project, env.now);
  const reservedUsd = estimateOf(budgets, agent, mode, place.size);
  const shortage = shortageFor(budgets, reservedUsd, env.now, slice.calendars);
  if (shortage)
    return refuse('budget_exhausted', shortage.text, `until ${new Date(shortage.until).toISOString()} at the latest`);
  const { handOff = null } = isJob(work) ? {} : work;
  const why = isJob(work) || !handOff ? null : problemOfHandOff(handOff, work, env.now);
  const refused: EventBody[] =
    handOff && why ? [{ type: 'task.hand_off_refused', taskId: work.id, handOffId: handOff.id, why }] : [];
  return accept(...refused, {
    type: 'run.started',
    ...aboutWork(work),
    runId,
    workerId: work.lease!.workerId,
    stage: place.stage,
    mode,
    agent,
    attempt: place.attempt,
    reservedUsd,
    ...(command.isFree ? { isFree: true } : {}),
    ...(command.usualMs === undefined ? {} : { usualMs: command.usualMs }),
    ...(handOff && !why ? { handOffId: handOff.id } : {}),
  });
}

interface Place {
  stage: string;
  attempt: number;
  size: string;
}

/** The stage of a run in this mode, the number of earlier runs, and the size of the work. */
function placeOf(project: Project, work: Work, mode: Mode): Place | (Decision & { ok: false }) {
  if (isJob(work)) {
    if (work.mode === mode) return { stage: mode, attempt: work.attempts + 1, size: sizeOfInput(work.input) };
    return refuse('wrong_stage', `${nameOf(work)} is not for mode ${mode}`, `start it as ${work.mode}`);
  }
  const stage = stageOf(project.rules, work);
  if (stage?.actor !== 'agent') return refuse('wrong_stage', `no agent works in stage ${work.stage}`);
  // Otherwise "approved" would not be checked against the criteria.
  if ((stage.mode === 'review') !== (mode === 'review'))
    return refuse('wrong_stage', `stage ${work.stage} is not for mode ${mode}`, `start it as ${stage.mode}`);
  return { stage: work.stage, attempt: (work.runs[mode] ?? 0) + 1, size: sizeOf(work) };
}

export function progressRun(slice: Slice, command: CommandOf<'run.progress'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { runId, percent, text, turns, tools, todo } = command;
  const more = { ...(turns && { turns }), ...(tools && { tools }), ...(todo && { todo }) };
  return accept({ type: 'run.progressed', ...aboutWork(checked.work), runId, percent, text, ...more });
}

export function spendInRun(slice: Slice, command: CommandOf<'run.spend'>, env: DecideEnv): Decision {
  const { subjectId, runId } = command;
  // A run that lost its lease costs money until its agent ends, and reports it only then.
  const late = slice.runs.ifLoaded(runId);
  const isLate = late?.outcome === 'interrupted' && late.subjectId === subjectId;
  const found = isLate ? findWork(slice, command) : currentRun(slice, command);
  if (!found.ok) return found;
  const before = late?.usage ?? command.usage;
  // The requests of a stopped agent are not assumed to cost anything.
  const mostUsd = isLate ? 0 : unpricedUsd(slice, found.project, runId, env.now);
  const usage = withinReserve(bounded(command.usage, before), before, mostUsd);
  const amounts = { moreUsd: moreUsd(before, usage), spentUsd: usage.costUsd ?? 0 };
  const about = aboutWork(found.work);
  const after = afterSpending(slice, found.project, { about, runId, ...amounts, isRunning: !isLate }, env);
  return accept({ type: 'run.spent', ...about, runId, usage }, ...after);
}

/** The most that is booked at once for requests without a price: what is reserved for the run, and one request. */
function unpricedUsd(slice: Slice, project: Project, runId: string, now: number): number {
  const reserved = budgetAccountsOf(slice, project, now).map(({ account }) => account.reserved[runId] ?? 0);
  return Math.min(...reserved) + UNKNOWN_REQUEST_USD;
}

export function briefRun(slice: Slice, command: CommandOf<'run.brief'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { runId, promptTokens, dropped, lessons = [] } = command;
  return accept({ type: 'run.briefed', ...aboutWork(checked.work), runId, promptTokens, dropped, lessons });
}

export function recordSession(slice: Slice, command: CommandOf<'run.record_session'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { runId, session } = command;
  return accept({ type: 'run.session_known', ...aboutWork(checked.work), runId, session });
}

export function denyInRun(slice: Slice, command: CommandOf<'guard.deny'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { runId, guard, tool, reason, call } = command;
  const kept = call ? { call } : {};
  return accept({ type: 'guard.denied', ...aboutWork(checked.work), runId, guard, tool, reason, ...kept });
}

export function sendBackRun(slice: Slice, command: CommandOf<'run.send_back'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { runId, gates } = command;
  const retry = checked.run.validationRetries + 1;
  return accept({ type: 'run.sent_back', ...aboutWork(checked.work), runId, retry, gates });
}

/** The run's end and its consequences are one decision, so that a crash cannot separate them. */
export function finishRun(slice: Slice, command: CommandOf<'run.finish'>, env: DecideEnv): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { work, project, run } = checked;
  const end =
    !isJob(work) && run.mode === 'review' && isVerdict(command.outcome)
      ? judge(work, command.envelope, command.outcome, { files: command.shownFiles ?? [], gates: project.rules.gates })
      : proposalOf(command, isJob(work) ? '' : work.plan);
  const reported = withinReserve(
    bounded(command.usage, run.usage),
    run.usage,
    unpricedUsd(slice, project, run.id, env.now),
  );
  const usage = finalUsage(run, reported, end.failure ?? null);
  const about = aboutWork(work);
  const amounts = { moreUsd: moreUsd(run.usage, usage), spentUsd: usage.costUsd ?? 0 };
  const events: EventBody[] = [
    {
      type: 'run.finished',
      ...about,
      runId: run.id,
      outcome: end.outcome,
      failure: end.failure ?? null,
      message: end.message,
      envelope: withReason(command.envelope, end),
      usage,
      ...(command.retryAt === undefined ? {} : { retryAt: command.retryAt }),
      ...(command.workerId && slice.workers.get(command.workerId) ? { workerId: command.workerId } : {}),
    },
    ...afterSpending(slice, project, { about, runId: run.id, ...amounts, isRunning: false }, env),
  ];
  const { tree, retryAt } = command;
  if (isJob(work)) {
    const about = { slice, project, job: work, run };
    const after = endJobRun(about, { ...end, envelope: command.envelope, retryAt }, env);
    return accept(...events, ...after, released(work, end.outcome));
  }
  if (end.criteria) events.push({ type: 'task.criteria_judged', taskId: work.id, criteria: end.criteria });
  const feedback = end.comments ? [{ kind: 'review' as const, text: end.comments, files: [] }] : command.feedback;
  const after = endStage(slice, project.rules, work, { ...end, feedback, tree, retryAt }, env);
  const { envelope, files = [] } = command;
  if (envelope && end.outcome !== 'failed' && end.outcome !== 'interrupted') {
    const stage = stageAfter(work, after);
    events.push(...handedOff(project.rules, work, { run, outcome: end.outcome, envelope, files, stage }, env.now));
  }
  events.push(...askAtEnd({ slice, project, task: work, run, command, end, after, env }));
  return accept(...events, released(work, end.outcome));
}

/** The summary of a result that does not count says why it does not: the agent's own words would call it a success. */
const withReason = (envelope: AgentEnvelope | null, { failure, message }: Verdict): AgentEnvelope | null =>
  envelope && failure === 'invalid_result' && message !== '' ? { ...envelope, summary: message } : envelope;

/** Only the loss of its lease interrupts a run. If an agent could claim it, it would be retried forever without being counted. */
function proposalOf(command: CommandOf<'run.finish'>, plan: string): Verdict {
  const { outcome, failure, message = command.envelope?.summary ?? '' } = command;
  if (outcome === 'plan_complete' && !hasPlan(command.envelope, plan))
    return {
      outcome: 'failed',
      failure: 'invalid_result',
      message: 'The agent called its plan complete, but gave none.',
    };
  if (outcome !== 'interrupted') return { outcome, failure, message };
  return {
    outcome: 'failed',
    failure: 'invalid_result',
    message: message || 'The agent reported its own run as interrupted.',
  };
}

/** A planner that gave only a summary planned with it. An empty plan is none. */
function hasPlan(envelope: AgentEnvelope | null, before: string): boolean {
  const { plan, planSummary, summary } = envelope ?? {};
  return (plan ?? (planSummary || summary || before)).trim() !== '';
}

const isVerdict = (outcome: Outcome) => outcome === 'approved' || outcome === 'changes_requested';

function currentRun(
  slice: Slice,
  command: { projectId: string; subjectId: string; jobId?: string; token: number; runId: string },
): (FoundWork & { ok: false }) | (FoundWork & { ok: true; run: Run }) {
  const checked = fencedWork(slice, command);
  if (!checked.ok) return checked;
  const run = slice.runs.ifLoaded(command.runId);
  if (run && run.status === 'running' && checked.work.lastRunId === run.id) return { ...checked, run };
  return { ok: false, refusal: { code: 'conflict', message: `run ${command.runId} is not running`, hint: '' } };
}
