import { ALL_PROJECTS, accountId, type RecordNoun, type Role } from '@tidemill/contract';
import type { Command } from './command.ts';

/**
 * The rows a command reads, so that a store can load and lock exactly those before `decide` runs.
 * Locks are taken in the order of the fields, ids ascending: two transactions cannot wait for each other.
 */
export interface Scope {
  /** Read only: rules. */
  projects: string[];
  /** Locked: counters and the head of the evidence chain. */
  lockedProjects: string[];
  workers: string[];
  /** Tasks leased by these workers, looked up only after `workers` are locked. Not locked themselves. */
  leasedBy: string[];
  tasks: string[];
  /** Tasks that depend on these, looked up only after `tasks` are locked (else a decrement gets lost). */
  dependentsOf: string[];
  /** The newest run of each of these tasks. */
  lastRunsOf: string[];
  ready: { projectId: string; role: Role; limit: number }[];
  /** How many conflicts of these projects wait for a person. Not locked. */
  openConflicts: string[];
  /** Leased tasks with a file scope, of these projects. Not locked. */
  scopedRunning: string[];
  evidence: { projectId: string; tree: string }[];
  /**
   * Dependency edges of all tasks that are not done, for the cycle check: a cancelled task can come back. Looked up
   * only after `lockedProjects` are locked, and not locked themselves.
   */
  edges: string[];
  /** Locked, after everything above. */
  records: string[];
  /** Open records of these tasks, looked up only after `tasks` are locked, and locked. */
  openRecordsOf: string[];
  /** Read only. */
  readRecords: string[];
  /** Records of a noun, at most PROJECT_RECORDS of them, the last by id. Not locked. */
  projectRecords: { projectId: string; noun: RecordNoun }[];
}
export const PROJECT_RECORDS = 500;

export function emptyScope(): Scope {
  return {
    projects: [],
    lockedProjects: [],
    workers: [],
    leasedBy: [],
    tasks: [],
    dependentsOf: [],
    lastRunsOf: [],
    ready: [],
    openConflicts: [],
    scopedRunning: [],
    evidence: [],
    edges: [],
    records: [],
    openRecordsOf: [],
    readRecords: [],
    projectRecords: [],
  };
}

export function scopeOf(command: Command): Scope {
  const scope = emptyScope();
  scope.projects.push(command.projectId);
  switch (command.type) {
    case 'project.register':
    case 'project.configure':
      scope.lockedProjects.push(command.projectId);
      return scope;
    case 'worker.register':
    case 'worker.remove':
    case 'worker.wish':
    case 'worker.beat':
    case 'worker.crash':
    case 'worker.reset':
      scope.workers.push(command.workerId);
      return scope;
    case 'task.create':
      scope.lockedProjects.push(command.projectId);
      scope.tasks.push(command.taskId, ...command.dependsOn);
      return scope;
    case 'task.set_dependencies':
      // One at a time per project: two that each see no cycle could make one together.
      scope.lockedProjects.push(command.projectId);
      scope.tasks.push(command.taskId, ...command.dependsOn);
      scope.edges.push(command.projectId);
      return scope;
    case 'work.claim':
      scope.workers.push(command.workerId);
      scope.leasedBy.push(command.workerId);
      scope.ready.push({ projectId: command.projectId, role: command.role, limit: command.window });
      scope.scopedRunning.push(command.projectId);
      if (command.role === 'builder') scope.openConflicts.push(command.projectId);
      // Read only: whether a run may begin is decided by run.start, under the lock.
      if (command.role === 'builder' || command.role === 'reviewer')
        scope.readRecords.push(...accounts(command.projectId));
      return scope;
    case 'run.start':
    case 'run.progress':
    case 'run.spend':
    case 'run.brief':
    case 'run.know_session':
    case 'guard.deny':
    case 'run.send_back':
    case 'lease.renew':
    case 'lease.release':
    case 'lease.expire':
    case 'lease.take':
    case 'stage.wait':
      scope.tasks.push(command.taskId);
      scope.lastRunsOf.push(command.taskId);
      if (maySpend(command)) scope.records.push(...accounts(command.projectId));
      return scope;
    case 'run.ask':
    case 'stage.hold':
      scope.tasks.push(command.taskId);
      scope.lastRunsOf.push(command.taskId);
      scope.openRecordsOf.push(command.taskId);
      scope.projectRecords.push({ projectId: command.projectId, noun: 'preference' });
      return scope;
    case 'evidence.record':
      scope.lockedProjects.push(command.projectId);
      scope.tasks.push(command.taskId);
      for (const receipt of command.receipts) scope.evidence.push({ projectId: command.projectId, tree: receipt.tree });
      return scope;
    case 'merge.prepare':
      scope.tasks.push(command.taskId);
      scope.evidence.push({ projectId: command.projectId, tree: command.tree });
      return scope;
    case 'alert.raise':
      scope.records.push(alertId(command.projectId, command.kind, command.subject ?? ''));
      return scope;
    case 'alert.acknowledge':
      scope.records.push(command.alertId);
      return scope;
    case 'question.ask':
    case 'question.answer':
    case 'question.expire':
    case 'question.remind':
      if (command.taskId !== null) {
        scope.tasks.push(command.taskId);
        scope.dependentsOf.push(command.taskId);
        scope.lastRunsOf.push(command.taskId);
        scope.openRecordsOf.push(command.taskId);
        scope.records.push(...accounts(command.projectId));
      }
      // Counted, and looked at for the same question again.
      if (command.type === 'question.ask' && command.taskId === null) {
        scope.lockedProjects.push(command.projectId);
        scope.projectRecords.push({ projectId: command.projectId, noun: 'question' });
      }
      if (command.type !== 'question.ask') scope.records.push(command.questionId);
      scope.projectRecords.push({ projectId: command.projectId, noun: 'preference' });
      return scope;
    case 'preference.revoke':
      scope.records.push(command.preferenceId);
      return scope;
    case 'budget.limit':
      scope.records.push(command.accountId);
      return scope;
    case 'notification.queue':
      scope.records.push(command.notification.id);
      return scope;
    case 'notification.settle':
      scope.records.push(command.notificationId);
      return scope;
    case 'supervisor.decide':
    case 'emergency.record':
      return scope;
    case 'run.finish':
      if (command.workerId) scope.workers.push(command.workerId);
      scope.records.push(...accounts(command.projectId));
      scope.openRecordsOf.push(command.taskId);
      scope.projectRecords.push({ projectId: command.projectId, noun: 'preference' });
      return inStage(scope, command);
    case 'stage.finish':
      scope.openRecordsOf.push(command.taskId);
      scope.projectRecords.push({ projectId: command.projectId, noun: 'preference' });
      return inStage(scope, command);
    case 'merge.land':
      scope.workers.push(...(command.workers ?? []));
      scope.tasks.push(command.taskId);
      scope.dependentsOf.push(command.taskId);
      scope.lastRunsOf.push(command.taskId);
      return scope;
    case 'task.cancel':
    case 'task.retry':
    case 'task.approve':
    case 'task.reject':
    case 'conflict.settle':
    case 'conflict.abort':
      scope.tasks.push(command.taskId);
      scope.dependentsOf.push(command.taskId);
      scope.lastRunsOf.push(command.taskId);
      scope.openRecordsOf.push(command.taskId);
      scope.records.push(...accounts(command.projectId));
      return scope;
    case 'task.assign':
      scope.tasks.push(command.taskId);
      if (command.workerId !== null) scope.workers.push(command.workerId);
      return scope;
    case 'task.wake':
    case 'task.edit':
    case 'task.note':
    case 'work.commit':
    case 'merge.abandon':
    case 'snapshot.note':
    case 'conflict.resolve_file':
      scope.tasks.push(command.taskId);
      return scope;
  }
}

/** What pays for runs: the project's own account, and the one of all projects. */
const accounts = (projectId: string) => [accountId(projectId), accountId(ALL_PROJECTS)];

/** Commands that begin a run, book its cost or may end it. The others about a run need no account. */
function maySpend({ type }: Command): boolean {
  return !['run.progress', 'run.brief', 'run.know_session', 'guard.deny', 'run.send_back'].includes(type);
}

function inStage(scope: Scope, command: { projectId: string; taskId: string; tree?: string }): Scope {
  // The one that is too many is told.
  scope.openConflicts.push(command.projectId);
  scope.tasks.push(command.taskId);
  scope.dependentsOf.push(command.taskId);
  scope.lastRunsOf.push(command.taskId);
  if (command.tree) scope.evidence.push({ projectId: command.projectId, tree: command.tree });
  return scope;
}

export const alertId = (projectId: string, kind: string, subject: string) => `alert/${projectId}/${kind}/${subject}`;
