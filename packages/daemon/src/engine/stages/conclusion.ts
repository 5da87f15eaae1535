import type { AgentEnvelope, FailureClass, Feedback, MatterContents, Mode, Outcome } from '@tidemill/contract';
import { touchesOf } from '@tidemill/core';
import type { AgentEnd, Captured } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import type { BuiltWork } from './prove.ts';

/** The result of a run, by an agent or an outside worker. */
export interface Conclusion {
  outcome: Outcome;
  envelope: AgentEnvelope | null;
  failure?: FailureClass;
  message?: string;
  feedback?: Feedback[];
  tree?: string;
  retryAt?: number;
  touches?: MatterContents;
}

/** If the work conflicts with the target, starts the merge in the worktree before the agent starts. */
export async function beginMerge(deps: EngineDeps, { task, ref }: LeasedTask): Promise<void> {
  if (task.feedback.some(({ kind }) => kind === 'conflict')) await deps.workspace.mergeTarget(ref);
}

/** Commits the worktree to the task's branch and records the commit. */
export async function commitWork(deps: EngineDeps, leased: LeasedTask, mode: Mode): Promise<Captured> {
  const { number, title } = leased.task;
  const captured = await deps.workspace.capture(leased.ref, `#${number} ${title} (${mode})`);
  const { commit, tree, notes } = captured;
  await leased.must({ type: 'work.commit', commit, tree, notes });
  return captured;
}

/** Commits a tree that a gate fixed to the task's branch and records the commit. */
export async function amend(
  deps: EngineDeps,
  leased: LeasedTask,
  { base }: BuiltWork,
  tree: string,
  by: string,
): Promise<BuiltWork> {
  const { number, title } = leased.task;
  const amended = await deps.workspace.amend(leased.ref, tree, `#${number} ${title} (${by}, fixed by a gate)`);
  await leased.must({ type: 'work.commit', commit: amended.commit, tree, notes: amended.notes });
  return { ...amended, base };
}

/** The change in each area that may need a person's decision: see `Workspace.changeIn`. */
export async function touchesIn(deps: EngineDeps, leased: LeasedTask, files: string[]): Promise<MatterContents> {
  const touched = touchesOf(files, leased.task, deps.project.rules);
  const contents = touched.map(async ([matter, those]) => [matter, await deps.workspace.changeIn(leased.ref, those)]);
  return Object.fromEntries(await Promise.all(contents));
}

/** Snapshots and reverts files that were written in a read-only mode. */
export async function revertStrayWrites(deps: EngineDeps, leased: LeasedTask, mode: Mode): Promise<void> {
  const why = `stray writes of a ${mode} run`;
  const ref = await deps.workspace.restore(leased.ref, why);
  const { projectId, id: taskId } = leased.task;
  if (ref) await deps.store.execute({ type: 'snapshot.note', projectId, taskId, ref, why });
}

/** The conclusion that an agent proposes, before proof. `files`: the changed files, in modes that change files. */
export function proposalOf(envelope: AgentEnvelope, files?: string[]): Conclusion {
  const { outcome, summary } = envelope;
  if (outcome === 'failed') return { outcome, envelope, failure: 'agent_reported', message: summary };
  return { outcome: outcome === 'pr_ready' && files?.length === 0 ? 'no_changes' : outcome, envelope };
}

/** The conclusion of a run whose agent failed. */
export function failedEnd({ failure, message, retryAt }: Extract<AgentEnd, { kind: 'failed' }>): Conclusion {
  return { outcome: 'failed', envelope: null, failure, message, retryAt };
}
