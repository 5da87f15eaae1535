import {
  AppError,
  type Lesson,
  lessonName,
  type Project,
  type RecordedTaskView,
  type Replay,
  type ReplayDetail,
  type ReplayRun,
  type ReplayVariant,
  type ReplayView,
  type RouteRequest,
  replayRef,
} from '@tidemill/contract';
import { LEAST_HELD_OUT, reportOf } from '@tidemill/core';
import { loadSettings } from '../../config/load.ts';
import { heldOut, lessonVariants, tooFew } from '../../engine/replay/lesson-trial.ts';
import { isUsable, recordedTasks } from '../../engine/replay/recorded.ts';
import type { Services } from '../context.ts';
import { projectOf, unwrap } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';
import { lessonOf } from '../lesson/find.ts';

export const replayHandlers: Handlers<'replays'> = {
  replays: listReplays,
  replay: showReplay,
  recordedTasks: listRecorded,
  startReplay,
  stopReplay,
};

async function listReplays(services: Services, input: RouteRequest<'replays'>): Promise<ReplayView[]> {
  const { id: projectId } = await projectOf(services, input.project);
  const all = await services.store.records({ noun: 'replay', projectId });
  const newest = all.sort((a, b) => b.number - a.number).slice(0, input.limit);
  return Promise.all(newest.map(async (replay) => viewOf(replay, await runsOf(services, replay))));
}

async function showReplay(services: Services, input: RouteRequest<'replay'>): Promise<ReplayDetail> {
  const project = await projectOf(services, input.project);
  const replay = await replayOf(services, project, input.replay);
  const runs = await runsOf(services, replay);
  const tasks = new Map(replay.tasks.map((task) => [task.taskId, task]));
  const shown = runs.map(({ id, taskId, variant, repeat, result }) => ({
    id,
    variant,
    repeat,
    result,
    task: tasks.get(taskId)?.number ?? 0,
    title: tasks.get(taskId)?.title ?? '',
  }));
  const inOrder = shown.sort((a, b) => a.task - b.task || a.repeat - b.repeat || a.variant - b.variant);
  return { ...viewOf(replay, runs), runs: inOrder };
}

async function listRecorded(services: Services, input: RouteRequest<'recordedTasks'>): Promise<RecordedTaskView[]> {
  return recordedOf(services, await projectOf(services, input.project), { limit: input.limit });
}

const recordedOf = ({ store, repositories }: Services, project: Project, query: Parameters<typeof recordedTasks>[1]) =>
  repositories.withWorkspace(project, (workspace) => recordedTasks({ projectId: project.id, store, workspace }, query));

async function startReplay(services: Services, input: Signed<'startReplay'>): Promise<ReplayView> {
  const project = await projectOf(services, input.project);
  const { by, repeats, withLandedTests, limitUsd } = input;
  const lesson = input.lesson === undefined ? null : await lessonOf(services, project, input.lesson);
  const variants = await variantsOf(services, project, input, lesson);
  const chosen = lesson ? await tasksFor(services, project, input, lesson) : null;
  const tasks = chosen ?? (await chosenTasks(services, project, input));
  const replayId = services.ids.next('replay');
  const purpose = lesson ? ({ kind: 'lesson', id: lesson.id } as const) : ({ kind: 'bench', id: null } as const);
  const replay = { purpose, variants, tasks, repeats, withLandedTests, limitUsd };
  unwrap(await services.store.execute({ type: 'replay.start', projectId: project.id, replayId, replay, by }));
  return viewOf((await services.store.record('replay', replayId))!, []);
}

/** The newest tasks that can be done again, or exactly those that were named. */
async function chosenTasks(services: Services, project: Project, { tasks: numbers, last }: Signed<'startReplay'>) {
  if (numbers === undefined || numbers.length === 0)
    return (await recordedOf(services, project, { limit: 1000 })).filter(isUsable).slice(0, last);
  const found = await recordedOf(services, project, { limit: numbers.length, numbers });
  return numbers.map((number) => {
    const task = found.find((each) => each.number === number);
    const why = task ? task.unusable : 'it has not landed';
    if (task && isUsable(task)) return task;
    throw new AppError('bad_input', `#${number} cannot be replayed: ${why}`, {
      hint: '`tidemill replay tasks` lists the tasks that can.',
    });
  });
}

/** Held-out tasks that the lesson fits. Tasks that were named must be among them. */
async function tasksFor(services: Services, project: Project, input: Signed<'startReplay'>, lesson: Lesson) {
  const all = heldOut(lesson, await recordedOf(services, project, { limit: 1000 }));
  const named = input.tasks ?? [];
  const stray = named.find((number) => !all.some((task) => task.number === number));
  if (stray !== undefined)
    throw new AppError('bad_input', `#${stray} does not show whether ${lessonName(lesson)} helps`, {
      hint: 'Name landed tasks that it fits and was not learned from, or none at all.',
    });
  const tasks = named.length > 0 ? all.filter(({ number }) => named.includes(number)) : all.slice(0, input.last);
  if (tasks.length < LEAST_HELD_OUT) throw tooFew(lesson, tasks.length);
  return tasks;
}

async function variantsOf(
  services: Services,
  project: Project,
  input: Signed<'startReplay'>,
  lesson: Lesson | null,
): Promise<ReplayVariant[]> {
  const { agents, prompt } = input;
  if (lesson && (prompt !== undefined || agents.length > 1))
    throw new AppError('bad_input', 'a replay tries a lesson, a prompt or several agents, not two of them at once', {
      hint: 'Start one replay for each.',
    });
  if (agents.length > 1 && prompt !== undefined)
    throw new AppError('bad_input', 'a replay compares agents or a prompt, not both at once', {
      hint: 'Name one agent for the prompt, or start two replays.',
    });
  const { config } = await loadSettings(project.root);
  for (const name of agents)
    if (!Object.hasOwn(config.agents, name))
      throw new AppError('bad_input', `no agent is configured as ${name}`, {
        hint: `The entries of \`agents\` in the config are ${Object.keys(config.agents).join(', ')}.`,
      });
  if (new Set(agents).size < agents.length)
    throw new AppError('bad_input', 'an agent is named twice', { hint: 'Use --repeat to do each task several times.' });
  if (prompt !== undefined) services.repositories.promptsOf(project).check('implement', prompt);
  if (lesson) return lessonVariants(lesson, agents[0] ?? null);
  const plain = { prompt: null, lessons: [] };
  if (prompt !== undefined) {
    const agent = agents[0] ?? null;
    return [
      { ...plain, name: 'the prompt in use', agent },
      { ...plain, name: 'the new prompt', agent, prompt },
    ];
  }
  return agents.length === 0
    ? [{ ...plain, name: 'as configured', agent: null }]
    : agents.map((agent) => ({ ...plain, name: agent, agent }));
}

async function stopReplay(services: Services, input: Signed<'stopReplay'>): Promise<ReplayView> {
  const project = await projectOf(services, input.project);
  const { id: replayId } = await replayOf(services, project, input.replay);
  const { why, by } = input;
  const reason = why || `stopped by ${by.name}`;
  unwrap(await services.store.execute({ type: 'replay.stop', projectId: project.id, replayId, why: reason, by }));
  const replay = (await services.store.record('replay', replayId))!;
  return viewOf(replay, await runsOf(services, replay));
}

const runsOf = ({ store }: Services, { id }: Replay): Promise<ReplayRun[]> =>
  store.records({ noun: 'replay_run', parent: id });

function viewOf({ noun: _, variants, ...replay }: Replay, runs: readonly ReplayRun[]): ReplayView {
  const names = variants.map(({ name }) => name);
  const costs = runs.reduce((total, { result }) => total + (result?.costUsd ?? 0), 0);
  return {
    ...replay,
    ref: replayRef(replay.number),
    variants: names,
    ended: runs.filter(({ result }) => result !== null).length,
    planned: replay.tasks.length * names.length * replay.repeats,
    spentUsd: replay.endedAt === null ? costs : replay.spentUsd,
    report: replay.report ?? reportOf(names, runs),
  };
}

/** By its number (`3`, `R3`) or its id. */
async function replayOf({ store }: Services, { id: projectId }: Project, name: string): Promise<Replay> {
  const number = /^\s*r?(\d{1,9})\s*$/i.exec(name)?.[1];
  const all = await store.records({ noun: 'replay', projectId });
  const found = all.find((each) => each.id === name || (number !== undefined && each.number === Number(number)));
  if (found) return found;
  throw new AppError('not_found', `there is no replay ${name}`, { hint: '`tidemill replay list` shows them.' });
}
