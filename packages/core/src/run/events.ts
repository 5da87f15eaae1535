import { isBuilding, NO_PROGRESS, type Outcome, type Run, type Task } from '@tidemill/contract';
import { changesNothing, type EventOf, type Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';
import { withFeedback } from '../task/unread.ts';
import { changeLeasedTask } from '../task-row.ts';

/** Failure classes of system stages: only a person resets them, not a builder's success. */
const LASTING_FAILURES = ['verify', 'merge', 'conflict'];

/** Outcomes after which a run's feedback has been addressed. After others the next run still needs it. */
const DEALT_WITH: Outcome[] = ['plan_complete', 'investigation_complete', 'pr_ready', 'approved', 'changes_requested'];

const PLANS: Outcome[] = ['plan_complete', 'investigation_complete'];

export const runEvents = {
  'run.started': (slice, body, { projectId, at }) => {
    const { subjectId, jobId, workerId, stage, mode, agent, attempt, reservedUsd, isFree, usualMs } = body;
    changeLeasedTask(slice, body, (task) => ({
      waiting: null,
      lastRunId: body.runId,
      runs: { ...task.runs, [mode]: attempt },
      builders: isBuilding(mode) && !task.builders.includes(workerId) ? [...task.builders, workerId] : task.builders,
    }));
    slice.runs.put({
      id: body.runId,
      projectId,
      subjectId,
      workerId,
      stage,
      mode,
      agent,
      attempt,
      reservedUsd,
      status: 'running',
      outcome: null,
      failure: null,
      summary: '',
      startedAt: at,
      endedAt: null,
      validationRetries: 0,
      progress: null,
      usualMs: usualMs ?? null,
      session: null,
      briefing: null,
      usage: { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 },
      ...(jobId ? { jobId } : {}),
      ...(isFree ? { isFree } : {}),
    });
  },
  'run.briefed': (slice, { runId, promptTokens, dropped, lessons }) =>
    change(slice, runId, { briefing: { promptTokens, dropped, lessons } }),
  'run.session_known': (slice, { runId, session }) => change(slice, runId, { session }),
  'run.progressed': (slice, { runId, percent, text, turns, tools, todo }) => {
    const before = slice.runs.ifLoaded(runId)?.progress ?? NO_PROGRESS;
    const changed = { ...(turns && { turns }), ...(tools && { tools }), ...(todo && { todo }) };
    change(slice, runId, { progress: { ...before, percent, text, ...changed } });
  },
  'run.spent': (slice, { runId, usage }) => change(slice, runId, { usage }),
  'run.overdrawn': changesNothing,
  'run.sent_back': (slice, { runId, retry }) => change(slice, runId, { validationRetries: retry }),
  'guard.denied': changesNothing,
  'run.finished': (slice, body, { at }) => {
    const { runId, outcome, failure, usage, envelope, message, lostAt } = body;
    changeLeasedTask(slice, body, (task) => afterRun(task, slice.runs.ifLoaded(runId), body));
    const summary = envelope?.summary || message;
    const lost = lostAt === undefined ? {} : { lostAt };
    const limit = body.retryAt === undefined ? {} : { retryAt: body.retryAt };
    change(slice, runId, { status: 'finished', outcome, failure, usage, summary, endedAt: at, ...lost, ...limit });
  },
} satisfies Reductions;

function change(slice: Slice, runId: string, changed: Partial<Run>): void {
  const run = slice.runs.ifLoaded(runId);
  if (run) slice.runs.put({ ...run, ...changed });
}

function afterRun(task: Task, run: Run | undefined, body: EventOf<'run.finished'>): Partial<Task> {
  const { counters } = task;
  if (body.outcome === 'interrupted') return { counters: { ...counters, interruptions: counters.interruptions + 1 } };
  if (!DEALT_WITH.includes(body.outcome)) return {};
  const lasting = Object.entries(counters.failures).filter(([kind]) => LASTING_FAILURES.includes(kind));
  const rejected = run?.mode === 'review' && body.outcome === 'changes_requested' ? 1 : 0;
  return {
    // What people said while it ran is for the next one.
    ...withFeedback(task.feedback.filter(({ isUnread }) => isUnread)),
    plan: planAfter(task, body),
    ...(PLANS.includes(body.outcome) ? { declared: body.envelope?.declares ?? {} } : {}),
    subtasks: body.envelope?.subtasks ?? task.subtasks,
    counters: { ...counters, failures: Object.fromEntries(lasting), reviewCycles: counters.reviewCycles + rejected },
  };
}

/** If a planner gave only a summary, the summary is the plan. */
function planAfter(task: Task, { outcome, envelope }: EventOf<'run.finished'>): string {
  if (envelope?.plan) return envelope.plan;
  if (outcome !== 'plan_complete') return task.plan;
  return task.plan || envelope?.planSummary || envelope?.summary || '';
}
