import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Evidence,
  type Project,
  type Question,
  type RouteRequest,
  sumUsd,
  type Task,
  type TaskDetail,
  type TaskMove,
} from '@tidemill/contract';
import { movesOf, Slice } from '@tidemill/core';
import { worktreeName } from '../../git/worktree-name.ts';
import type { Store } from '../../ports.ts';
import { comingOf } from '../conflict/coming.ts';
import type { Services } from '../context.ts';
import { projectOf, summaries, taskOf } from '../find.ts';
import { ranked } from '../question/question.ts';
import { originOf } from './origin.ts';

/** Limit for a readable graph. */
const MOST_RELATED = 100;

export async function showTask(services: Services, input: RouteRequest<'task'>): Promise<TaskDetail> {
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const { store } = services;
  const [[own], runs, evidence, questions, related, coming, worktree] = await Promise.all([
    summaries(store, [task]),
    store.runs(task.id),
    evidenceOf(store, task),
    ranked(store, project, { parent: task.id }),
    relatedTo(store, task),
    comingOf(services, project, task),
    // A task without runs has no worktree.
    task.fence === 0 ? null : worktreeOf(services, project, task),
  ]);
  return {
    task: { ...task, after: own!.after },
    origin: await originOf(store, task),
    runs,
    evidence,
    questions,
    related,
    coming,
    worktree,
    moves: movesFor(project, task, questions),
    costUsd: runs.reduce((sum, { usage }) => sumUsd(sum, usage.costUsd ?? 0), 0),
  };
}

/** Its own evidence, and what another task of its batch recorded for all of them. */
async function evidenceOf(store: Store, { id: taskId, projectId, landedCommit }: Task): Promise<Evidence[]> {
  const of = { projectId, taskId };
  const own = await store.evidence(of);
  if (!landedCommit) return own;
  const [prepared] = await store.events({ ...of, types: ['merge.prepared'], newestFirst: true, limit: 1 });
  const hashes = prepared?.body.type === 'merge.prepared' && prepared.body.lands ? prepared.body.evidence : [];
  const missing = hashes.filter((hash) => !own.some((link) => link.hash === hash));
  const shared = await Promise.all(missing.map((hash) => store.evidenceByHash(hash)));
  return [...own, ...shared.filter((link) => link !== null)].sort((a, b) => a.position - b.position);
}

/** Cached moves of tasks without open questions. The store returns the same immutable object for an unchanged row. */
const known = new WeakMap<Task, { project: Project; moves: TaskMove[] }>();

/** The stages a person may move it to. `questions`: the questions of the task. */
export function movesFor(project: Project, task: Task, questions: readonly Question[]): TaskMove[] {
  if (questions.some(({ status }) => status === 'open')) return findMoves(project, task, questions);
  const last = known.get(task);
  if (last?.project === project) return last.moves;
  const moves = findMoves(project, task, []);
  known.set(task, { project, moves });
  return moves;
}

function findMoves(project: Project, task: Task, questions: readonly Question[]): TaskMove[] {
  const slice = new Slice({ isWhole: true });
  slice.projects.load(project);
  slice.tasks.load(task);
  for (const question of questions) if (question.status === 'open') slice.records.load(question);
  return movesOf(slice, project, task);
}

/** Its worktree folder, if it exists. A symbolic link in its place does not count. */
export async function worktreeOf({ machine }: Services, project: Project, task: Task): Promise<string | null> {
  const path = join(machine.folder.project(project.id), 'worktrees', worktreeName(task.branch));
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  return found?.isDirectory() ? path : null;
}

/** Breadth first, alternating between dependencies and dependents, so that both sides get room. */
async function relatedTo(store: Store, task: Task): Promise<TaskDetail['related']> {
  const { projectId } = task;
  const seen = new Map([[task.id, task]]);
  let [above, below] = [[task], [task]];
  const news = async (find: (limit: number) => Promise<Task[]>) => {
    const limit = MOST_RELATED + 1 - seen.size;
    const found = limit > 0 ? (await find(limit + seen.size)).filter(({ id }) => !seen.has(id)).slice(0, limit) : [];
    for (const each of found) seen.set(each.id, each);
    return found;
  };
  while (above.length + below.length > 0 && seen.size <= MOST_RELATED) {
    const ids = [...new Set(above.flatMap(({ dependsOn }) => dependsOn))].filter((id) => !seen.has(id));
    const waitingFor = below.map(({ id }) => id);
    above = ids.length > 0 ? await news((limit) => store.tasks({ projectId, ids: ids.slice(0, limit) })) : [];
    below = below.length > 0 ? await news((limit) => store.tasks({ projectId, waitingFor, limit })) : [];
  }
  const others = [...seen.values()].slice(1);
  return (await summaries(store, others)).map(({ number, title, stage, after }) => ({ number, title, stage, after }));
}
