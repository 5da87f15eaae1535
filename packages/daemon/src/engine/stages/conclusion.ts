import type {
  AgentEnvelope,
  ApprovalMatter,
  FailureClass,
  Feedback,
  MatterContents,
  Mode,
  Outcome,
  Task,
} from '@tidemill/contract';
import { foldersOf, isManifest, touchesOf } from '@tidemill/core';
import type { AgentEnd, Captured } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { conflictText } from '../merge/send-back.ts';
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
  /** The changed files, in modes that change files. */
  files?: readonly string[];
  touches?: MatterContents;
  touchedFiles?: Partial<Record<ApprovalMatter, string[]>>;
}

/**
 * If the work conflicts with the target, or fails only together with it, merges the target into the worktree before the
 * agent starts. Returns feedback about conflicts that the agent does not know yet.
 */
export async function beginMerge(deps: EngineDeps, { task, ref }: LeasedTask): Promise<Feedback[]> {
  const isConflict = task.feedback.some(({ kind }) => kind === 'conflict');
  if (!isConflict && !task.feedback.some(({ needsTarget }) => needsTarget)) return [];
  const { files } = await deps.workspace.mergeTarget(ref);
  if (isConflict || files.length === 0) return [];
  return [{ kind: 'conflict', text: conflictText(deps, files), files }];
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

type Touched = Pick<Conclusion, 'touches' | 'touchedFiles'>;

/** The change in each area that may need a person's decision: see `Workspace.changeIn`. */
export async function touchesIn(deps: EngineDeps, leased: LeasedTask, files: string[]): Promise<Touched> {
  const { task, ref } = leased;
  const touched = touchesOf(files, task, deps.project.rules, await addedBy(deps, task, files));
  const contents = touched.map(async ([matter, those]) => [matter, await deps.workspace.changeIn(ref, those)]);
  return {
    touches: Object.fromEntries(await Promise.all(contents)),
    touchedFiles: Object.fromEntries(touched),
  };
}

/** Top-level folders and packages that the target does not have. Only looked for where somebody wants to know. */
async function addedBy({ workspace, project }: EngineDeps, task: Task, files: string[]): Promise<Set<string>> {
  const { architectureDecisions } = task.hilConfig ?? project.rules.hilConfig;
  const folders = foldersOf(files);
  const manifests = files.filter(isManifest);
  if (architectureDecisions === 'automated' || folders.length + manifests.length === 0) return new Set();
  const known = await workspace.filesAt(await workspace.targetCommit(), [...folders.map(inside), ...manifests]);
  const before = known.map(([file]) => file);
  const there = new Set([...before, ...foldersOf(before)]);
  return new Set([...folders, ...manifests].filter((each) => !there.has(each)));
}

/** A folder whose name has wildcards is not found, and so counts as new. */
const inside = (folder: string) => `${folder.replace(/[*?[\]{}!()]/g, '_')}/**`;

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
  return { outcome: outcome === 'pr_ready' && files?.length === 0 ? 'no_changes' : outcome, envelope, files };
}

/** The conclusion of a run whose agent failed. */
export function failedEnd({ failure, message, retryAt }: Extract<AgentEnd, { kind: 'failed' }>): Conclusion {
  return { outcome: 'failed', envelope: null, failure, message, retryAt };
}
