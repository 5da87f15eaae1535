import { type Actor, AppError, lossText, type MergeLoss, type Project, type Task } from '@tidemill/contract';
import { isOpenConflict, unwrap } from '@tidemill/core';
import type { ConflictEditor, SettledMerge, Store, Workspace } from '../../ports.ts';

interface ConflictDeps {
  store: Store;
  project: Project;
  conflicts: ConflictEditor;
}

/** Throws if the task no longer waits for a person to resolve its conflict. */
export async function checkConflict(store: Store, task: Task): Promise<void> {
  const now = await store.task(task.id);
  if (now && isOpenConflict(now) && now.lease === null && now.branch === task.branch) return;
  throw new AppError('wrong_stage', `#${task.number} is in ${now?.stage} and has no conflict for a person to resolve`, {
    hint: '`tidemill conflicts` lists the tasks that have one.',
  });
}

/** Lines of each file that a refusal names. */
const MOST_LINES = 20;

/**
 *   nothing left to resolve, nothing lost that is not accepted ──▶ begin_settle on record ──▶ the merge is committed ──▶ settle on record
 * After a crash, `finishSettling` completes the flow. Each step is idempotent.
 */
export async function settleConflict(deps: ConflictDeps, task: Task, by: Actor, accepts: string[]): Promise<Task> {
  const { store, project } = deps;
  const of = { projectId: task.projectId, taskId: task.id, by };
  const settled = await commitMerge(deps, task, { by, accepts }, async () => {
    unwrap(await store.execute({ type: 'conflict.begin_settle', ...of, accepts }));
  });
  if (settled.kind === 'left') throw notResolved(task, settled.left);
  if (settled.kind === 'lossy') throw lossy(project, task, settled.losses);
  return unwrap(await store.execute(settleCommand(task, { by, accepts }, settled))).task!;
}

interface Settling {
  by: Actor;
  /** `content` of the losses that the person accepts. */
  accepts: string[];
}

function settleCommand(
  { projectId, id: taskId }: Task,
  { by, accepts }: Settling,
  { commit, tree, notes, losses }: Extract<SettledMerge, { kind: 'settled' }>,
) {
  const accepted = losses.filter(({ content }) => accepts.includes(content));
  return { type: 'conflict.settle', projectId, taskId, by, commit, tree, notes, accepts: accepted } as const;
}

/** Completes interrupted settlements. A conflict whose files were changed since then stays open. */
export async function finishSettling(deps: ConflictDeps, isDue: (task: Task) => boolean): Promise<void> {
  const { store, project } = deps;
  for (const task of await store.tasks({ projectId: project.id, stages: ['blocked'] })) {
    if (!task.settling || !isOpenConflict(task) || task.lease !== null || !isDue(task)) continue;
    const settled = await commitMerge(deps, task, task.settling);
    if (settled.kind !== 'settled') continue;
    // Refused if a person settled or aborted it meanwhile. That is fine.
    await store.execute(settleCommand(task, task.settling, settled));
  }
}

function commitMerge(
  { store, project, conflicts }: ConflictDeps,
  task: Task,
  { by, accepts }: Settling,
  beforeCommit?: () => Promise<void>,
): Promise<SettledMerge> {
  const message = `#${task.number} ${task.title} (conflict with ${project.rules.target} resolved by ${by.name})`;
  const isAccepted = ({ content }: MergeLoss) => [...accepts, ...task.acceptedLosses].includes(content);
  return conflicts.settleMerge(task, { message, isAccepted }, () => checkConflict(store, task), beforeCommit);
}

/**
 * Discards the work and restarts the task on another branch. The work is snapshotted first. A reactor, or the next
 * start, removes the old worktree.
 */
export async function abortConflict(
  { store, workspace }: { store: Store; workspace: Pick<Workspace, 'snapshot'> },
  task: Task,
  by: Actor,
): Promise<Task> {
  const snapshot = await workspace.snapshot(task, `the conflict was aborted by ${by.name}`);
  const of = { projectId: task.projectId, taskId: task.id, by };
  return unwrap(await store.execute({ type: 'conflict.abort', ...of, snapshot })).task!;
}

function notResolved({ number }: Task, left: { path: string; why: string }[]): AppError {
  const what = left.length === 1 ? '1 file is' : `${left.length} files are`;
  const lines = left.map(({ path, why }) => `  ${path}: ${why}`).join('\n');
  return new AppError('conflict', `${what} not resolved:\n${lines}`, {
    hint: `Resolve them, then settle again; \`tidemill conflicts show ${number}\` shows how.`,
  });
}

function lossy({ rules: { target } }: Project, { number, acceptedLosses }: Task, losses: MergeLoss[]): AppError {
  const open = losses.filter(({ content }) => !acceptedLosses.includes(content));
  const message = `the resolution drops changes of ${target}:\n${lossText(open, target, MOST_LINES)}`;
  return new AppError('conflict', message, {
    hint: `Put them back, then settle again. If they must go: \`tidemill conflicts settle ${number} --accept-losses\`, or confirm it on the page.`,
  });
}
