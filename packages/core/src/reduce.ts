import type { EventBody, Feedback, Outcome, Run, Task } from '@tidemill/contract';
import { reduceAlert } from './alert/alert.ts';
import { reduceBudget } from './budget/reduce.ts';
import { taskAfterConflict } from './conflict/reduce.ts';
import { reduceWorker } from './fleet/fleet.ts';
import { roleOf } from './pipeline/stage.ts';
import { reduceQuestion, taskAfterQuestion } from './question/reduce.ts';
import type { Slice } from './slice.ts';
import { newTask } from './task/new-task.ts';

/** Failure classes of system stages: a builder's success does not wipe them, only a person does. */
const LASTING_FAILURES = ['verify', 'merge', 'conflict'];

/** Outcomes after which a run's feedback has been dealt with. After any other the next run still needs it. */
const DEALT_WITH: Outcome[] = ['plan_complete', 'investigation_complete', 'pr_ready', 'approved', 'changes_requested'];

/** Folds one event into the rows. The only projection there is: stores save what it changes, doctor replays it. */
export function reduce(slice: Slice, projectId: string, at: number, body: EventBody): void {
  // The accounts come first: they need to know what the run had cost before.
  reduceBudget(slice, projectId, at, body);
  if (changesTask(body)) reduceTask(slice, at, body);
  if ('runId' in body) reduceRun(slice, projectId, at, body);
  reduceQuestion(slice, projectId, at, body);
  reduceAlert(slice, projectId, at, body);
  reduceWorker(slice, projectId, at, body);
  switch (body.type) {
    case 'project.registered': {
      const { name, root, rules } = body;
      slice.projects.put({
        id: projectId,
        name,
        root,
        createdAt: at,
        nextNumber: 1,
        nextQuestion: 1,
        rules,
        evidence: { head: '', count: 0 },
      });
      return;
    }
    case 'project.configured':
      slice.projects.put({ ...slice.projects.get(projectId)!, rules: body.rules });
      return;
    case 'task.created': {
      const project = slice.projects.get(projectId)!;
      slice.putTask(newTask(projectId, at, body, roleOf(project.rules, body.pipeline, 'open')));
      slice.projects.put({ ...project, nextNumber: body.number + 1 });
      return;
    }
    case 'evidence.recorded': {
      const project = slice.projects.get(projectId)!;
      slice.putEvidence(body.evidence);
      slice.projects.put({ ...project, evidence: { head: body.evidence.hash, count: body.evidence.position } });
      return;
    }
    default:
      return;
  }
}

type TaskEvent = Exclude<Extract<EventBody, { taskId: string | null }>, { type: UntoldType }> & { taskId: string };
/** About a task, but without a change to it: its row need not be at hand. */
type UntoldType = 'task.created' | 'alert.raised' | 'supervisor.decided' | 'question.reminded' | 'log.unreadable';
const UNTOLD: string[] = ['task.created', 'alert.raised', 'supervisor.decided', 'question.reminded', 'log.unreadable'];

function changesTask(body: EventBody): body is TaskEvent {
  return 'taskId' in body && body.taskId !== null && !UNTOLD.includes(body.type);
}

function reduceTask(slice: Slice, at: number, body: TaskEvent): void {
  const task = slice.tasks.get(body.taskId);
  if (!task) throw new Error(`${body.type} is about task ${body.taskId}, which is not loaded`);
  const changed = taskAfter(slice, task, at, body);
  if (changed) slice.putTask({ ...task, ...changed });
}

/** The fields of the task that the event changes; null when it changes none. */
function taskAfter(slice: Slice, task: Task, at: number, body: TaskEvent): Partial<Task> | null {
  switch (body.type) {
    case 'task.dependencies_set':
      return { dependsOn: body.dependsOn, unmet: body.unmet };
    case 'task.dependency_met':
      return { unmet: task.unmet - 1 };
    case 'task.moved': {
      const { rules } = slice.projects.get(task.projectId)!;
      // A cancelled task's branch goes: should it ever come back, it starts without what was said about its work.
      const gone = body.to === 'cancelled' ? { head: null, feedback: [], rework: false } : {};
      return { ...settled(at), ...gone, stage: body.to, role: roleOf(rules, task.pipeline, body.to) };
    }
    case 'task.blocked':
      return {
        ...settled(at),
        stage: 'blocked',
        role: null,
        resumeStage: body.from,
        blocked: { reason: body.reason, text: body.text },
      };
    case 'task.parked':
      return { ...settled(at), stage: 'needs_info', role: null, resumeStage: body.from };
    case 'question.asked':
    case 'question.held':
    case 'question.answered':
    case 'question.closed':
      return taskAfterQuestion(task, at, body);
    case 'task.edited': {
      const { title = task.title, body: text = task.body, criteria = task.criteria } = body;
      return { title, body: text, criteria, files: body.files ?? task.files, priority: body.priority ?? task.priority };
    }
    case 'task.assigned':
      return { assignee: body.workerId };
    case 'task.matter_approved':
      return {
        approved: [...new Set([...task.approved, ...body.matters])],
        approvedContents: { ...task.approvedContents, ...body.contents },
        approvedChecks: [...new Set([...task.approvedChecks, ...(body.checks ? [body.checks] : [])])],
      };
    case 'task.waiting':
      return { waiting: body.isPassing ? null : body.why, notBefore: body.until };
    case 'task.counters_reset':
      return { counters: { failures: {}, reviewCycles: 0, interruptions: 0, fingerprints: {} } };
    case 'task.feedback_given':
      return { feedback: feedbackAfter(task.feedback, body.feedback), rework: body.feedback.length > 0 };
    case 'task.noted':
      return { context: [...task.context, body.entry] };
    case 'task.criteria_judged':
      return { criteria: body.criteria };
    case 'lease.claimed': {
      const { workerId, owner, token, expiresAt } = body;
      return { lease: { workerId, owner, token, claimedAt: at, expiresAt }, fence: token };
    }
    case 'lease.renewed': {
      if (!task.lease) return null;
      const claimedAt = task.lease.claimedAt + (body.frozenMs ?? 0);
      return { lease: { ...task.lease, claimedAt, expiresAt: body.expiresAt } };
    }
    case 'lease.released':
      return { lease: null };
    case 'conflict.settled':
    case 'conflict.aborted':
      return taskAfterConflict(task, body);
    case 'work.committed':
      return { head: { commit: body.commit, tree: body.tree } };
    case 'failure.counted':
      return {
        counters: { ...task.counters, failures: { ...task.counters.failures, [body.failure]: body.count } },
        notBefore: body.notBefore,
      };
    case 'failure.recognised': {
      const { counters } = task;
      const fingerprints = { ...counters.fingerprints, [body.fingerprint]: body.count };
      return { counters: { ...counters, fingerprints } };
    }
    case 'merge.prepared':
      return { prepared: { commit: body.commit, tree: body.tree, base: body.base } };
    case 'merge.abandoned':
      return { prepared: null };
    case 'merge.landed':
      return { prepared: null, landedCommit: body.commit };
    case 'run.started': {
      const builds = body.mode === 'implement' || body.mode === 'request_changes';
      const builders =
        builds && !task.builders.includes(body.workerId) ? [...task.builders, body.workerId] : task.builders;
      return { waiting: null, lastRunId: body.runId, runs: { ...task.runs, [body.mode]: body.attempt }, builders };
    }
    case 'run.finished':
      return afterRun(task, slice.runs.get(body.runId), body);
    default:
      return null;
  }
}

/** Every arrival in a stage starts with a clean slate of what was in the way. */
function settled(at: number): Partial<Task> {
  return { stageSince: at, resumeStage: null, blocked: null, waiting: null, notBefore: 0 };
}

/** Newer output of a gate, a reviewer or a merge replaces the older; what a person said stays. An empty list takes all back. */
function feedbackAfter(before: Feedback[], given: Feedback[]): Feedback[] {
  if (given.length === 0) return [];
  const renewed = new Set(given.map(({ kind }) => kind));
  return [...before.filter(({ kind }) => kind === 'person' || !renewed.has(kind)), ...given];
}

function afterRun(task: Task, run: Run | undefined, body: Extract<EventBody, { type: 'run.finished' }>): Partial<Task> {
  const { counters } = task;
  if (body.outcome === 'interrupted') return { counters: { ...counters, interruptions: counters.interruptions + 1 } };
  if (!DEALT_WITH.includes(body.outcome)) return {};
  const lasting = Object.entries(counters.failures).filter(([kind]) => LASTING_FAILURES.includes(kind));
  const rejected = run?.mode === 'review' && body.outcome === 'changes_requested' ? 1 : 0;
  return {
    feedback: [],
    rework: false,
    plan: planAfter(task, body),
    subtasks: body.envelope?.subtasks ?? task.subtasks,
    counters: { ...counters, failures: Object.fromEntries(lasting), reviewCycles: counters.reviewCycles + rejected },
  };
}

/** A planner that gave only a summary has given that as its plan. */
function planAfter(task: Task, { outcome, envelope }: Extract<EventBody, { type: 'run.finished' }>): string {
  if (envelope?.plan) return envelope.plan;
  if (outcome !== 'plan_complete') return task.plan;
  return task.plan || envelope?.planSummary || envelope?.summary || '';
}

function reduceRun(slice: Slice, projectId: string, at: number, body: Extract<EventBody, { runId: string }>): void {
  const run = slice.runs.get(body.runId);
  switch (body.type) {
    case 'run.started': {
      const { taskId, workerId, stage, mode, agent, attempt } = body;
      slice.runs.put({
        ...{ id: body.runId, projectId, taskId, workerId, stage, mode, agent, attempt },
        ...{ status: 'running', outcome: null, failure: null, summary: '', startedAt: at, endedAt: null },
        ...{
          usage: { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 },
          validationRetries: 0,
          progress: null,
          session: null,
          reservedUsd: body.reservedUsd,
          briefing: null,
          ...(body.isFree ? { isFree: true } : {}),
        },
      });
      return;
    }
    case 'run.progressed':
      if (run) slice.runs.put({ ...run, progress: { percent: body.percent, text: body.text } });
      return;
    case 'run.spent':
      if (run) slice.runs.put({ ...run, usage: body.usage });
      return;
    case 'run.briefed':
      if (run) slice.runs.put({ ...run, briefing: { promptTokens: body.promptTokens, dropped: body.dropped } });
      return;
    case 'run.session_known':
      if (run) slice.runs.put({ ...run, session: body.session });
      return;
    case 'guard.denied':
    case 'run.overdrawn':
      return;
    case 'run.sent_back':
      if (run) slice.runs.put({ ...run, validationRetries: body.retry });
      return;
    case 'run.finished': {
      const { outcome, failure, usage, envelope, message } = body;
      const summary = envelope?.summary || message;
      if (run) slice.runs.put({ ...run, status: 'finished', outcome, failure, usage, summary, endedAt: at });
      return;
    }
  }
}
