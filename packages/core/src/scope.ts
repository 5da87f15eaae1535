import type { Role } from '@tidemill/contract';
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
  /** Leased tasks with a file scope, of these projects. Not locked. */
  scopedRunning: string[];
  evidence: { projectId: string; tree: string }[];
  /**
   * Dependency edges of all tasks that are not done, for the cycle check: a cancelled task can come back. Looked up
   * only after `lockedProjects` are locked, and not locked themselves.
   */
  edges: string[];
}

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
    scopedRunning: [],
    evidence: [],
    edges: [],
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
    case 'stage.wait':
      scope.tasks.push(command.taskId);
      scope.lastRunsOf.push(command.taskId);
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
      return scope;
    case 'stage.finish':
    case 'run.finish':
      scope.tasks.push(command.taskId);
      scope.dependentsOf.push(command.taskId);
      scope.lastRunsOf.push(command.taskId);
      if (command.tree) scope.evidence.push({ projectId: command.projectId, tree: command.tree });
      return scope;
    case 'merge.land':
    case 'task.cancel':
    case 'task.retry':
    case 'task.approve':
    case 'task.reject':
      scope.tasks.push(command.taskId);
      scope.dependentsOf.push(command.taskId);
      scope.lastRunsOf.push(command.taskId);
      return scope;
    case 'work.commit':
    case 'merge.abandon':
    case 'snapshot.note':
      scope.tasks.push(command.taskId);
      return scope;
  }
}
