import {
  type AgentEnvelope,
  type ContextEntry,
  type EventBody,
  MODES,
  type Outcome,
  type Run,
} from '@tidemill/contract';
import { afterSpending, estimateOf, shortageFor } from '../budget/budget.ts';
import { pursesOf } from '../budget/period.ts';
import { bounded, inTheEnd, moreUsd } from '../budget/usage.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { type Fenced, fenced, findTask } from '../fence.ts';
import { released } from '../lease/lease.ts';
import { endStage } from '../pipeline/end-stage.ts';
import { stageOf } from '../pipeline/stage.ts';
import { askAtEnd } from '../question/at-end.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { judge, type Verdict } from './verdict.ts';

export function startRun(slice: Slice, command: CommandOf<'run.start'>, env: DecideEnv): Decision {
  const checked = fenced(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const stage = stageOf(project.rules, task);
  if (stage?.actor !== 'agent') return refuse('wrong_stage', `no agent works in stage ${task.stage}`);
  // Else "approved" would not be judged by the criteria.
  if ((stage.mode === 'review') !== (command.mode === 'review'))
    return refuse('wrong_stage', `stage ${task.stage} is not for mode ${command.mode}`, `start it as ${stage.mode}`);
  if (slice.runs.ifLoaded(task.lastRunId ?? '')?.status === 'running')
    return refuse('conflict', `run ${task.lastRunId} of #${task.number} is still under way`);
  const attempt = (task.runs[command.mode] ?? 0) + 1;
  const { runId, mode, agent } = command;
  const workerId = task.lease!.workerId;
  const purses = pursesOf(slice, project, env.now);
  const reservedUsd = estimateOf(purses, agent, mode, task);
  const shortage = shortageFor(purses, reservedUsd, env.now);
  if (shortage)
    return refuse('budget_exhausted', shortage.text, `until ${new Date(shortage.until).toISOString()} at the latest`);
  const { id: taskId, stage: at } = task;
  const free = command.isFree ? { isFree: true } : {};
  return accept({
    type: 'run.started',
    taskId,
    runId,
    workerId,
    stage: at,
    mode,
    agent,
    attempt,
    reservedUsd,
    ...free,
  });
}

export function progressRun(slice: Slice, command: CommandOf<'run.progress'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { taskId, runId, percent, text } = command;
  return accept({ type: 'run.progressed', taskId, runId, percent, text });
}

export function spendInRun(slice: Slice, command: CommandOf<'run.spend'>, env: DecideEnv): Decision {
  const { taskId, runId } = command;
  // A run that lost its lease has cost something until its agent was gone, and that is told only then.
  const late = slice.runs.ifLoaded(runId);
  const isLate = late?.outcome === 'interrupted' && late.taskId === taskId;
  const found = isLate ? findTask(slice, command) : currentRun(slice, command);
  if (!found.ok) return found;
  const before = late?.usage ?? command.usage;
  const usage = bounded(command.usage, before);
  const amounts = { moreUsd: moreUsd(before, usage), spentUsd: usage.costUsd ?? 0 };
  const after = afterSpending(slice, found.project, { taskId, runId, ...amounts, isRunning: !isLate }, env);
  return accept({ type: 'run.spent', taskId, runId, usage }, ...after);
}

export function briefRun(slice: Slice, command: CommandOf<'run.brief'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { taskId, runId, promptTokens, dropped } = command;
  return accept({ type: 'run.briefed', taskId, runId, promptTokens, dropped });
}

export function knowSession(slice: Slice, command: CommandOf<'run.know_session'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { taskId, runId, session } = command;
  return accept({ type: 'run.session_known', taskId, runId, session });
}

export function denyInRun(slice: Slice, command: CommandOf<'guard.deny'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { taskId, runId, guard, tool, reason } = command;
  return accept({ type: 'guard.denied', taskId, runId, guard, tool, reason });
}

export function sendBackRun(slice: Slice, command: CommandOf<'run.send_back'>): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { taskId, runId, gates } = command;
  return accept({ type: 'run.sent_back', taskId, runId, retry: checked.run.validationRetries + 1, gates });
}

/** The run's end and what follows from it are one decision, so that no crash can part them. */
export function finishRun(slice: Slice, command: CommandOf<'run.finish'>, env: DecideEnv): Decision {
  const checked = currentRun(slice, command);
  if (!checked.ok) return checked;
  const { task, project, run } = checked;
  const end =
    run.mode === 'review' && isVerdict(command.outcome)
      ? judge(task, command.envelope, command.outcome, { files: command.shownFiles ?? [], gates: project.rules.gates })
      : proposalOf(command);
  const usage = inTheEnd(run, bounded(command.usage, run.usage), end.failure ?? null);
  const amounts = { moreUsd: moreUsd(run.usage, usage), spentUsd: usage.costUsd ?? 0 };
  const events: EventBody[] = [
    {
      type: 'run.finished',
      taskId: task.id,
      runId: run.id,
      outcome: end.outcome,
      failure: end.failure ?? null,
      message: end.message,
      envelope: command.envelope,
      usage,
      ...(command.workerId && slice.workers.get(command.workerId) ? { workerId: command.workerId } : {}),
    },
    ...afterSpending(slice, project, { taskId: task.id, runId: run.id, ...amounts, isRunning: false }, env),
  ];
  if (end.criteria) events.push({ type: 'task.criteria_judged', taskId: task.id, criteria: end.criteria });
  const note = noteOf(run, end.outcome, command.envelope, env.now);
  if (note) events.push({ type: 'task.noted', taskId: task.id, entry: note });
  const feedback = end.comments ? [{ kind: 'review' as const, text: end.comments, files: [] }] : command.feedback;
  const { tree, retryAt } = command;
  const after = endStage(slice, project.rules, task, { ...end, feedback, tree, retryAt }, env);
  events.push(...askAtEnd({ slice, project, task, run, command, end, after, env }));
  return accept(...events, released(task, end.outcome));
}

/** Only losing its lease interrupts a run. An agent that says so would be tried again for ever, and for free. */
function proposalOf(command: CommandOf<'run.finish'>): Verdict {
  const { outcome, failure, message = command.envelope?.summary ?? '' } = command;
  if (outcome !== 'interrupted') return { outcome, failure, message };
  return {
    outcome: 'failed',
    failure: 'invalid_result',
    message: message || 'The agent called its own run interrupted.',
  };
}

const isVerdict = (outcome: Outcome) => outcome === 'approved' || outcome === 'changes_requested';

function currentRun(
  slice: Slice,
  command: { projectId: string; taskId: string; token: number; runId: string },
): (Fenced & { ok: false }) | (Fenced & { ok: true; run: Run }) {
  const checked = fenced(slice, command);
  if (!checked.ok) return checked;
  const run = slice.runs.ifLoaded(command.runId);
  if (run && run.status === 'running' && checked.task.lastRunId === run.id) return { ...checked, run };
  return { ok: false, refusal: { code: 'conflict', message: `run ${command.runId} is not under way`, hint: '' } };
}

/** What later runs of the task get to know of this one. */
function noteOf(run: Run, outcome: Outcome, envelope: AgentEnvelope | null, at: number): ContextEntry | null {
  if (!envelope || outcome === 'failed' || outcome === 'interrupted') return null;
  const comments = envelope.review?.comments.join('\n') ?? '';
  const summary = envelope.planSummary ?? envelope.investigationSummary ?? (envelope.summary || comments);
  if (!summary) return null;
  const entryType =
    run.mode !== 'review' ? MODES[run.mode].note : outcome === 'approved' ? 'review_approved' : 'review_feedback';
  const source = run.mode === 'review' ? 'reviewer' : 'agent';
  return { runId: run.id, source, entryType, summary: summary.slice(0, 2000), at };
}
