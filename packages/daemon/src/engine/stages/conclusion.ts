import type { AgentEnvelope, FailureClass, Feedback, MatterContents, Mode, Outcome } from '@tidemill/contract';
import { touchesOf } from '@tidemill/core';
import type { AgentEnd, Captured } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import type { BuiltWork } from './prove.ts';

/** What becomes of a run, whoever worked in it. */
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

/** Work that conflicts with the target is begun with the merge under way in its worktree. */
export async function beginMerge(deps: EngineDeps, { task, ref }: LeasedTask): Promise<void> {
  if (task.feedback.some(({ kind }) => kind === 'conflict')) await deps.workspace.mergeTarget(ref);
}

/** Commits what lies in the worktree onto the task's branch, and puts it on record. */
export async function commitWork(deps: EngineDeps, leased: LeasedTask, mode: Mode): Promise<Captured> {
  const { number, title } = leased.task;
  const captured = await deps.workspace.capture(leased.ref, `#${number} ${title} (${mode})`);
  const { commit, tree, notes } = captured;
  await leased.must({ type: 'work.commit', commit, tree, notes });
  return captured;
}

/** Puts a tree that a gate repaired onto the task's branch, and on record. */
export async function amend(
  deps: EngineDeps,
  leased: LeasedTask,
  { base }: BuiltWork,
  tree: string,
  by: string,
): Promise<BuiltWork> {
  const { number, title } = leased.task;
  const amended = await deps.workspace.amend(leased.ref, tree, `#${number} ${title} (${by}, repaired by a gate)`);
  await leased.must({ type: 'work.commit', commit: amended.commit, tree, notes: amended.notes });
  return { ...amended, base };
}

/** What the work does in each matter that a person may want to decide: see `Workspace.changeIn`. */
export async function touchesIn(deps: EngineDeps, leased: LeasedTask, files: string[]): Promise<MatterContents> {
  const touched = touchesOf(files, leased.task, deps.project.rules);
  const contents = touched.map(async ([matter, those]) => [matter, await deps.workspace.changeIn(leased.ref, those)]);
  return Object.fromEntries(await Promise.all(contents));
}

/** Whatever was written in a mode that writes nothing is snapshotted and undone. */
export async function undoStrays(deps: EngineDeps, leased: LeasedTask, mode: Mode): Promise<void> {
  const why = `stray writes of a ${mode} run`;
  const ref = await deps.workspace.restore(leased.ref, why);
  const { projectId, id: taskId } = leased.task;
  if (ref) await deps.store.execute({ type: 'snapshot.note', projectId, taskId, ref, why });
}

/** What an agent's word comes to before anything is proven. `files` is what it changed, where it was to change something. */
export function proposalOf(envelope: AgentEnvelope, files?: string[]): Conclusion {
  const { outcome, summary } = envelope;
  if (outcome === 'failed') return { outcome, envelope, failure: 'agent_reported', message: summary };
  return { outcome: outcome === 'pr_ready' && files?.length === 0 ? 'no_changes' : outcome, envelope };
}

/** What a run comes to whose agent failed. */
export function failedEnd({ failure, message, retryAt }: Extract<AgentEnd, { kind: 'failed' }>): Conclusion {
  return { outcome: 'failed', envelope: null, failure, message, retryAt };
}
