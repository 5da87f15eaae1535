import { z } from 'zod';
import { HilConfig, MatterContents } from './autonomy.ts';
import { BudgetLimits, BudgetPeriod, BudgetThreshold } from './budget.ts';
import { FileResolution } from './conflict.ts';
import { Evidence } from './gate.ts';
import { Notification, Severity } from './notice.ts';
import { ProjectRules } from './project.ts';
import { Answer, Question } from './question.ts';
import { AgentEnvelope, FailureClass, MAX_USD, Mode, Outcome, storedNumber, Usage } from './run.ts';
import { BlockReason, ContextEntry, Criterion, Feedback, PreparedMerge, TaskKind } from './task.ts';
import { Beat, Role, WorkerWish } from './worker.ts';

/**
 * Facts, in the past tense. An event carries all that `reduce` needs, so that replaying the log gives the same rows.
 * A new field gets a default; a changed meaning gets a new type.
 */
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape });

export const SupervisorAction = z.enum(['watch', 'ask', 'interrupt', 'grant', 'preempt', 'deny', 'redistribute']);
export type SupervisorAction = z.infer<typeof SupervisorAction>;
export const EmergencyOperation = z.enum([
  'emergency_stop',
  'recover_stuck',
  'purge_queue',
  'restart_worker',
  'reset_worker',
]);
export type EmergencyOperation = z.infer<typeof EmergencyOperation>;

const task = { taskId: z.string() };

export const EventBody = z.discriminatedUnion('type', [
  event('project.registered', { name: z.string(), root: z.string(), rules: ProjectRules }),
  event('project.configured', { rules: ProjectRules }),
  event('worker.registered', {
    ...{ workerId: z.string(), name: z.string(), role: Role },
    isOutside: z.boolean().optional(),
  }),
  event('worker.removed', { workerId: z.string() }),
  event('worker.wished', { workerId: z.string(), wish: WorkerWish, by: z.string() }),
  event('worker.beat', { workerId: z.string(), beat: Beat }),
  event('worker.crashed', {
    workerId: z.string(),
    error: z.string(),
    status: z.enum(['crashed', 'failed']).default('crashed'),
  }),
  /** Errors and figures count from here on. */
  event('worker.reset', { workerId: z.string(), by: z.string() }),
  event('task.created', {
    ...task,
    number: z.number(),
    title: z.string(),
    body: z.string(),
    kind: TaskKind,
    pipeline: z.string(),
    criteria: z.array(Criterion),
    files: z.array(z.string()),
    dependsOn: z.array(z.string()),
    unmet: z.number(),
    priority: z.number(),
    branch: z.string(),
    hilConfig: HilConfig.nullable().default(null),
    repairs: z.array(z.string()).default([]),
  }),
  /** What is asked for, as it is from now on; what is left out stayed. */
  event('task.edited', {
    ...task,
    by: z.string(),
    title: z.string().optional(),
    body: z.string().optional(),
    criteria: z.array(Criterion).optional(),
    files: z.array(z.string()).optional(),
    priority: z.number().optional(),
  }),
  event('task.assigned', { ...task, workerId: z.string().nullable(), by: z.string() }),
  event('task.matter_approved', {
    ...task,
    matters: z.array(HilConfig.keyof()),
    /** The content of changed checks that was agreed to. */
    checks: z.string().optional(),
    contents: MatterContents.optional(),
    by: z.string(),
  }),
  event('task.dependencies_set', { ...task, dependsOn: z.array(z.string()), unmet: z.number() }),
  event('task.dependency_met', { ...task, dependency: z.string() }),
  event('task.moved', { ...task, from: z.string(), to: z.string(), because: z.string() }),
  event('task.blocked', { ...task, from: z.string(), reason: BlockReason, text: z.string() }),
  event('task.parked', { ...task, from: z.string(), questions: z.array(z.string()) }),
  event('task.waiting', { ...task, why: z.string(), until: z.number(), isPassing: z.boolean().optional() }),
  /** A person stepped in: what failed before no longer counts. */
  event('task.counters_reset', { ...task, by: z.string() }),
  event('task.feedback_given', { ...task, feedback: z.array(Feedback) }),
  event('task.noted', { ...task, entry: ContextEntry }),
  event('task.criteria_judged', { ...task, criteria: z.array(Criterion) }),
  event('lease.claimed', {
    ...task,
    workerId: z.string(),
    owner: z.string(),
    token: z.number(),
    expiresAt: z.number(),
  }),
  /** `frozenMs` is the time the worker stood still by a person's wish: it counts towards no limit. */
  event('lease.renewed', { ...task, token: z.number(), expiresAt: z.number(), frozenMs: z.number().optional() }),
  event('lease.released', { ...task, workerId: z.string(), token: z.number(), why: z.string() }),
  event('run.started', {
    ...task,
    runId: z.string(),
    workerId: z.string(),
    stage: z.string(),
    mode: Mode,
    agent: z.string(),
    attempt: z.number(),
    reservedUsd: storedNumber(MAX_USD).default(0),
    /** Its agent is declared free: a run that reports nothing costs nothing. */
    isFree: z.boolean().optional(),
  }),
  /** It has spent what was set aside for it, and the budget has no more. */
  event('run.overdrawn', { ...task, runId: z.string(), spentUsd: storedNumber(MAX_USD) }),
  event('run.progressed', { ...task, runId: z.string(), percent: z.number(), text: z.string() }),
  /** Provisional while the run goes on: an interrupted run has cost this much. */
  event('run.spent', { ...task, runId: z.string(), usage: Usage }),
  event('run.briefed', { ...task, runId: z.string(), promptTokens: z.number(), dropped: z.array(z.string()) }),
  event('run.session_known', { ...task, runId: z.string(), session: z.string() }),
  event('guard.denied', { ...task, runId: z.string(), guard: z.string(), tool: z.string(), reason: z.string() }),
  event('run.sent_back', { ...task, runId: z.string(), retry: z.number(), gates: z.array(z.string()) }),
  event('run.finished', {
    ...task,
    runId: z.string(),
    outcome: Outcome,
    failure: FailureClass.nullable(),
    message: z.string(),
    envelope: AgentEnvelope.nullable(),
    usage: Usage,
    /** Whose figures it counts in. */
    workerId: z.string().optional(),
  }),
  event('work.committed', { ...task, commit: z.string(), tree: z.string(), notes: z.array(z.string()) }),
  event('evidence.recorded', { evidence: Evidence }),
  event('failure.counted', { ...task, failure: z.string(), count: z.number(), notBefore: z.number() }),
  /** Seen again with nothing but numbers, paths and times changed. */
  event('failure.recognised', { ...task, fingerprint: z.string(), count: z.number() }),
  event('merge.prepared', { ...task, ...PreparedMerge.shape, evidence: z.array(z.string()) }),
  event('merge.abandoned', { ...task, why: z.string() }),
  event('merge.landed', {
    ...task,
    commit: z.string(),
    tree: z.string(),
    /** In whose figures it counts as completed. */
    workers: z.array(z.string()).optional(),
  }),
  event('snapshot.taken', { ...task, ref: z.string(), why: z.string() }),
  event('conflict.file_resolved', { ...task, path: z.string(), how: FileResolution, by: z.string() }),
  /** A person says that all of it is resolved; the commit that concludes the merge is on the branch. */
  event('conflict.settled', { ...task, files: z.array(z.string()), by: z.string() }),
  /** The work so far is kept in the snapshot; the task begins anew on another branch. */
  event('conflict.aborted', {
    ...task,
    by: z.string(),
    from: z.string(),
    branch: z.string(),
    snapshot: z.string().nullable(),
  }),
  event('alert.raised', {
    taskId: z.string().nullable(),
    kind: z.string(),
    text: z.string(),
    severity: Severity.default('warning'),
    /** What it is about, so that the same is not told twice in a row: a worker, a task, a budget. */
    subject: z.string().default(''),
    /** How often it was raised so far, this time and the unheard times included. */
    count: z.number().int().default(1),
  }),
  /** The same matter again, too soon to be told anew. */
  event('alert.repeated', { alertId: z.string() }),
  event('alert.acknowledged', { alertId: z.string(), by: z.string() }),
  event('question.asked', { taskId: z.string().nullable(), question: Question }),
  event('question.answered', { taskId: z.string().nullable(), questionId: z.string(), answer: Answer }),
  /** It was asked as one that can wait, but the agent cannot go on without it after all. */
  event('question.held', { taskId: z.string(), questionId: z.string(), text: z.string() }),
  event('question.reminded', {
    taskId: z.string().nullable(),
    questionId: z.string(),
    remindAt: z.number().nullable(),
  }),
  /** Nobody needs to know any more: dismissed by time, or its task is gone. */
  event('question.closed', {
    taskId: z.string().nullable(),
    questionId: z.string(),
    status: z.enum(['dismissed', 'withdrawn']),
    why: z.string(),
  }),
  event('preference.learned', {
    preferenceId: z.string(),
    fingerprint: z.string(),
    text: z.string(),
    answer: z.string(),
    count: z.number(),
    isActive: z.boolean(),
  }),
  event('preference.revoked', { preferenceId: z.string(), by: z.string() }),
  event('budget.limited', { accountId: z.string(), limits: BudgetLimits, timeZone: z.string(), by: z.string() }),
  event('budget.threshold_reached', {
    accountId: z.string(),
    period: BudgetPeriod,
    threshold: BudgetThreshold,
    spentUsd: storedNumber(MAX_USD),
    limitUsd: z.number(),
  }),
  /** What running runs may still spend of an account, by run: more for one that used up its part, less for the others. */
  event('budget.reserved', { accountId: z.string(), reserved: z.record(z.string(), z.number()) }),
  event('notification.queued', { notification: Notification }),
  event('notification.tried', {
    notificationId: z.string(),
    /** Null when it got through. */
    error: z.string().nullable(),
    reference: z.string().nullable(),
    nextAt: z.number().nullable(),
  }),
  /** What the supervisor decided, and why; acts follow as events of their own. */
  event('supervisor.decided', {
    taskId: z.string().nullable(),
    action: SupervisorAction,
    subject: z.string(),
    reason: z.string(),
  }),
  /** Stands for an event of the log that cannot be read. It is never stored. */
  event('log.unreadable', { taskId: z.string().nullable(), was: z.string(), why: z.string() }),
  /** The audit of what stops or throws away: who, when, what it hit. */
  event('emergency.executed', {
    operation: EmergencyOperation,
    by: z.string(),
    reason: z.string(),
    workers: z.array(z.string()),
    tasks: z.array(z.number()),
  }),
]);
export type EventBody = z.infer<typeof EventBody>;
export type EventType = EventBody['type'];

/** An event with its place: `seq` is the cursor of every stream, in commit order and without gaps. */
export interface LoggedEvent {
  seq: number;
  projectId: string;
  at: number;
  /** Schema version of the body. */
  v: number;
  body: EventBody;
}
export const EVENT_VERSION = 1;

/** The task an event is about; null for what belongs to no task. */
export function taskIdOf(body: EventBody): string | null {
  if (body.type === 'evidence.recorded') return body.evidence.taskId;
  return 'taskId' in body ? body.taskId : null;
}
