import { type Actor, AppError, type Project, type Task } from '@tidemill/contract';
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

/**
 *   nothing left to resolve ──▶ begin_settle on record ──▶ the merge is committed ──▶ settle on record
 * After a crash, `finishSettling` completes the flow. Each step is idempotent.
 */
export async function settleConflict(deps: ConflictDeps, task: Task, by: Actor): Promise<Task> {
  const { store } = deps;
  const of = { projectId: task.projectId, taskId: task.id, by };
  const settled = await commitMerge(deps, task, by, async () => {
    unwrap(await store.execute({ type: 'conflict.begin_settle', ...of }));
  });
  if (settled.kind === 'left') throw notResolved(task, settled.left);
  const { commit, tree, notes } = settled;
  return unwrap(await store.execute({ type: 'conflict.settle', ...of, commit, tree, notes })).task!;
}

/** Completes interrupted settlements. A conflict whose files were changed since then stays open. */
export async function finishSettling(deps: ConflictDeps, isDue: (task: Task) => boolean): Promise<void> {
  const { store, project } = deps;
  for (const task of await store.tasks({ projectId: project.id, stages: ['blocked'] })) {
    if (!task.settling || !isOpenConflict(task) || task.lease !== null || !isDue(task)) continue;
    const { by } = task.settling;
    const settled = await commitMerge(deps, task, by);
    if (settled.kind === 'left') continue;
    const { commit, tree, notes } = settled;
    const of = { projectId: task.projectId, taskId: task.id, by };
    // Refused if a person settled or aborted it meanwhile. That is fine.
    await store.execute({ type: 'conflict.settle', ...of, commit, tree, notes });
  }
}

function commitMerge(
  { store, project, conflicts }: ConflictDeps,
  task: Task,
  by: Actor,
  beforeCommit?: () => Promise<void>,
): Promise<SettledMerge> {
  const message = `#${task.number} ${task.title} (conflict with ${project.rules.target} resolved by ${by.name})`;
  return conflicts.settleMerge(task, message, () => checkConflict(store, task), beforeCommit);
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
