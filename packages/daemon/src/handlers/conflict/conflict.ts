import {
  AppError,
  type ConflictDetail,
  type ConflictFile,
  type ConflictSummary,
  overtakenText,
  type Project,
  type RouteRequest,
  type Task,
} from '@tidemill/contract';
import { isOpenConflict, whyForPerson } from '@tidemill/core';
import { abortConflict as abort, checkConflict, settleConflict as settle } from '../../engine/flows/conflict.ts';
import type { LentWorkspace, Services } from '../context.ts';
import { projectOf, summary, taskOf, unwrap } from '../find.ts';
import type { Signed } from '../handler.ts';

/** Conflicts that wait for a person. */
export async function listConflicts(services: Services, input: RouteRequest<'conflicts'>): Promise<ConflictSummary[]> {
  const project = await projectOf(services, input.project);
  const blocked = await services.store.tasks({ projectId: project.id, stages: ['blocked'] });
  const tasks = blocked.filter(isOpenConflict);
  if (tasks.length === 0) return [];
  return services.repositories.withWorkspace(project, async (workspace) => {
    const found: ConflictSummary[] = [];
    for (const task of tasks) found.push(await summarize(project, task, workspace));
    return found;
  });
}

async function summarize(project: Project, task: Task, workspace: LentWorkspace): Promise<ConflictSummary> {
  const hasBegun = await workspace.hasBegunMerge(task);
  return about(project, task, hasBegun, await filesOf(task, workspace));
}

/** The files from the merge queue. They are computed again for tasks of older versions, which did not store them. */
async function filesOf(task: Task, workspace: LentWorkspace): Promise<string[]> {
  const told = task.feedback.filter(({ kind }) => kind === 'conflict').flatMap(({ files }) => files);
  if (told.length > 0) return [...new Set(told)];
  const candidate = await workspace.candidate(task).catch((error: unknown) => {
    // Its branch is gone. Opening it reports that. The list must still show the others.
    if (error instanceof AppError) return null;
    throw error;
  });
  return candidate?.kind === 'conflict' ? candidate.files : [];
}

function about({ rules }: Project, task: Task, hasBegun: boolean, files: string[]): ConflictSummary {
  const times = task.counters.failures.conflict ?? 0;
  const overtaken = task.conflicts ? overtakenText(task.conflicts) : '';
  const tried = overtaken || (times > 0 ? `an agent tried it ${times} times` : 'it waits for your decision');
  return {
    number: task.number,
    title: task.title,
    branch: task.branch,
    target: rules.target,
    since: task.stageSince,
    status: hasBegun ? 'resolving' : 'pending',
    files,
    why: whyForPerson(files, rules) ?? tried,
  };
}

export async function showConflict(services: Services, input: RouteRequest<'conflict'>): Promise<ConflictDetail> {
  const { project, task, mayTouch } = await conflictOf(services, input);
  return services.repositories.withWorkspace(project, async (workspace) => {
    const { path, isBehind, files, losses } = await workspace.openMerge(task, mayTouch);
    const hasBegun = await workspace.hasBegunMerge(task);
    const names = files.length > 0 ? files.map((file) => file.path) : await filesOf(task, workspace);
    const { files: _, ...rest } = about(project, task, hasBegun, names);
    return { ...rest, worktree: path, isBehind, files, losses, commands: commandsFor(project, task, path, files) };
  });
}

/** The same steps as on the page, for a terminal. File names are quoted because they come from a repository. */
function commandsFor({ root }: Project, { number }: Task, worktree: string, files: ConflictFile[]): string[] {
  const open = files.filter(({ isResolved }) => !isResolved);
  const merged = open.filter(({ form, kind }) => form === 'text' && (kind === 'both_changed' || kind === 'both_added'));
  const others = open.filter((file) => !merged.includes(file));
  const names = merged.map(({ path }) => quoted(path)).join(' ');
  const editor = `'code --wait --merge "$REMOTE" "$LOCAL" "$BASE" "$MERGED"'`;
  const tool = `git -c mergetool.keepBackup=false -c merge.tool=code -c mergetool.code.cmd=${editor} mergetool -y`;
  return [
    `cd ${quoted(worktree)}`,
    'git status',
    ...(merged.length > 0 ? [`${tool} -- ${names}`, `git add -- ${names}`] : []),
    ...others.map(chooseCommand),
    `cd ${quoted(root)} && tidemill conflicts settle ${number}`,
  ];
}

function chooseCommand({ path, kind, form }: ConflictFile): string {
  const name = quoted(path);
  if (form === 'submodule')
    return `git ls-files -u -- ${name}  # then: git update-index --cacheinfo 160000,COMMIT,${name}; where it is checked out, in it: git checkout COMMIT`;
  if (kind === 'both_deleted') return `git rm -- ${name}`;
  if (kind === 'both_changed' || kind === 'both_added')
    return `git checkout --ours -- ${name} && git add -- ${name}  # or --theirs, which is the target's`;
  return `git add -- ${name}  # or: git rm -- ${name}`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export async function resolveFile(
  services: Services,
  { path, resolution, by, ...input }: Signed<'resolveFile'>,
): Promise<ConflictFile> {
  const { project, task, mayTouch } = await conflictOf(services, input);
  const file = await services.repositories.withWorkspace(project, (workspace) =>
    workspace.resolveFile(task, path, resolution, mayTouch),
  );
  const how = 'text' in resolution ? 'text' : resolution.take;
  const of = { projectId: project.id, taskId: task.id };
  unwrap(await services.store.execute({ type: 'conflict.resolve_file', ...of, path, how, by }));
  return file;
}

export async function settleConflict(services: Services, { by, accept = [], ...input }: Signed<'settleConflict'>) {
  const { project, task } = await conflictOf(services, input);
  const { store, repositories } = services;
  const settled = await repositories.withWorkspace(project, (conflicts) =>
    settle({ store, project, conflicts }, task, by, accept),
  );
  return summary(store, settled);
}

export async function abortConflict(services: Services, { by, ...input }: Signed<'abortConflict'>) {
  const { project, task } = await conflictOf(services, input);
  const { store, repositories } = services;
  const aborted = await repositories.withWorkspace(project, (workspace) => abort({ store, workspace }, task, by));
  return summary(store, aborted);
}

async function conflictOf(services: Services, input: { project: string; task: string }) {
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const mayTouch = () => checkConflict(services.store, task);
  await mayTouch();
  return { project, task, mayTouch };
}
