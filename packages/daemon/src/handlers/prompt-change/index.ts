import {
  AppError,
  Mode,
  type Project,
  type PromptChange,
  type PromptChangeView,
  promptChangeRef,
  type RouteRequest,
  replayRef,
} from '@tidemill/contract';
import { LEAST_HELD_OUT } from '@tidemill/core';
import { applyPrompt, rollBackPrompt } from '../../engine/learning/prompt-changes.ts';
import { isUsable, recordedTasks } from '../../engine/replay/recorded.ts';
import type { Services } from '../context.ts';
import { projectOf, unwrap } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';

export const promptChangeHandlers: Handlers<'promptChanges'> = {
  promptChanges: list,
  proposePrompt: propose,
  decidePrompt: decide,
};

const MOST_TASKS = 10;
const LIMIT_USD = 5;
/** Only the builder's prompt is used in a replay. */
const TRIED = '.tidemill/agents/implement.md';

async function list(services: Services, input: RouteRequest<'promptChanges'>): Promise<PromptChangeView[]> {
  const { id: projectId } = await projectOf(services, input.project);
  const all = await services.store.records({ noun: 'prompt_change', projectId });
  const newest = all.sort((a, b) => b.number - a.number).slice(0, input.limit);
  return Promise.all(newest.map((change) => viewOf(services, change)));
}

async function propose(services: Services, input: Signed<'proposePrompt'>): Promise<PromptChangeView> {
  const project = await projectOf(services, input.project);
  const { file, text, why, by } = input;
  const { store, ids, repositories } = services;
  const before = await repositories.promptFilesOf(project).read(file);
  const mode = Mode.safeParse(/^\.tidemill\/agents\/(.+)\.md$/.exec(file)?.[1]);
  if (mode.success) repositories.promptsOf(project).check(mode.data, text);
  const replayId = file === TRIED ? ids.next('replay') : null;
  const tasks = replayId === null ? [] : await newestTasks(services, project);
  const isTried = replayId !== null && tasks.length >= LEAST_HELD_OUT;
  const promptChangeId = ids.next('prompt_change');
  const change = { file, before, text, why, replayId: isTried ? replayId : null };
  const plain = { agent: null, lessons: [] };
  const variants = [
    { ...plain, name: 'the prompt in use', prompt: null },
    { ...plain, name: 'the new prompt', prompt: text },
  ];
  const replay = {
    purpose: { kind: 'prompt' as const, id: promptChangeId },
    variants,
    tasks,
    repeats: 1,
    withLandedTests: false,
    limitUsd: LIMIT_USD,
  };
  const reply = await store.executeAll([
    { type: 'prompt_change.propose', projectId: project.id, promptChangeId, change, by },
    ...(isTried ? [{ type: 'replay.start' as const, projectId: project.id, replayId, replay, by }] : []),
  ]);
  if (!reply.ok) throw new AppError(reply.refusal.code, reply.refusal.message, { hint: reply.refusal.hint });
  return viewOf(services, (await store.record('prompt_change', promptChangeId))!);
}

async function newestTasks({ store, repositories }: Services, project: Project) {
  const all = await repositories.withWorkspace(project, (workspace) =>
    recordedTasks({ projectId: project.id, store, workspace }, { limit: 200 }),
  );
  return all
    .filter(isUsable)
    .slice(0, MOST_TASKS)
    .map(({ unusable: _, ...task }) => task);
}

async function decide(services: Services, input: Signed<'decidePrompt'>): Promise<PromptChangeView> {
  const project = await projectOf(services, input.project);
  const change = await changeOf(services, project, input.change);
  const { decision, why, by } = input;
  const { store, repositories } = services;
  const sources = { store, project, files: repositories.promptFilesOf(project) };
  const allowed = { apply: 'proposed', refuse: 'proposed', roll_back: 'applied' }[decision];
  if (change.status !== allowed)
    throw new AppError('conflict', `${promptChangeRef(change.number)} is ${change.status.replaceAll('_', ' ')}`, {
      hint: '`tidemill prompts` lists them.',
    });
  if (decision === 'apply') await applyPrompt(sources, change, why, by);
  else if (decision === 'roll_back') await rollBackPrompt(sources, change, why, by);
  else {
    const refused = { status: 'refused', why, baseline: null, by } as const;
    unwrap(
      await store.execute({
        type: 'prompt_change.decide',
        projectId: project.id,
        promptChangeId: change.id,
        ...refused,
      }),
    );
  }
  return viewOf(services, (await store.record('prompt_change', change.id))!);
}

async function viewOf({ store }: Services, { noun: _, ...change }: PromptChange): Promise<PromptChangeView> {
  const replay = change.replayId ? await store.record('replay', change.replayId) : null;
  return { ...change, ref: promptChangeRef(change.number), replay: replay && replayRef(replay.number) };
}

/** By its number (`3`, `P3`) or its id. */
async function changeOf({ store }: Services, { id: projectId }: Project, name: string): Promise<PromptChange> {
  const number = /^\s*p?(\d{1,9})\s*$/i.exec(name)?.[1];
  const all = await store.records({ noun: 'prompt_change', projectId });
  const found = all.find((each) => each.id === name || (number !== undefined && each.number === Number(number)));
  if (found) return found;
  throw new AppError('not_found', `there is no proposed text ${name}`, { hint: '`tidemill prompts` lists them.' });
}
