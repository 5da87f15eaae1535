import {
  type EventBody,
  type Project,
  type ProjectRules,
  personActor,
  type Task,
  type TaskMove,
  workerName,
} from '@tidemill/contract';
import type { DecideEnv, Decision } from '../command.ts';
import { arePlansReviewed } from '../pipeline/enter.ts';
import { openApproval } from '../question/answer.ts';
import type { Slice } from '../slice.ts';
import { jumpObstacle } from './jump.ts';
import { approve, cancel, reject, retry } from './steer.ts';

type Via = NonNullable<TaskMove['via']>;

/** These decisions are not saved: only the stage they lead to is used. */
const ENV: DecideEnv = { now: 0, newId: (prefix) => prefix, hash: (text) => text };
const NOTE = 'because';

/**
 * Where a person may move a task: the stages of its pipeline, done and cancelled. Each move is tried with `decide`, so
 * that it cannot differ from the command. The slice holds the task, its project and its open questions.
 */
export function movesOf(slice: Slice, project: Project, task: Task): TaskMove[] {
  const stages = Object.keys(project.rules.pipelines[task.pipeline]?.stages ?? {});
  const of = { projectId: project.id, taskId: task.id, by: personActor('person') };
  const steps: [Via, Decision][] = [
    ['approve', approve(slice, { type: 'task.approve', ...of }, ENV)],
    ['reject', reject(slice, { type: 'task.reject', ...of, note: NOTE }, ENV)],
    ['cancel', cancel(slice, { type: 'task.cancel', ...of })],
  ];
  return ['open', ...stages, 'done', 'cancelled'].map((to) => {
    const again = retry(slice, { type: 'task.retry', ...of, stage: to, note: NOTE }, ENV);
    const ways: [Via, Decision][] = [...steps, ['retry', again]];
    const via = to === task.stage ? undefined : ways.find(([, decision]) => endOf(task, decision) === to)?.[0];
    if (via === undefined) return { to, via: null, why: whyNot(slice, project.rules, task, to), needsNote: false };
    const needsNote = via === 'reject' || (via === 'retry' && task.stage === 'needs_info');
    return { to, via, why: WORDS[via], needsNote };
  });
}

const WORDS: Record<Via, string> = {
  approve: 'approves it',
  reject: 'rejects it: write what to change',
  retry: 'starts it again there',
  cancel: 'cancels it; its work is kept',
};

/** The stage the task would be in; null when the command is refused or moves nothing. */
function endOf(task: Task, decision: Decision): string | null {
  if (!decision.ok) return null;
  const ends = decision.events.flatMap((event) => stageAfter(task, event) ?? []);
  return ends.at(-1) ?? null;
}

function stageAfter(task: Task, event: EventBody): string | null {
  if (!('taskId' in event) || event.taskId !== task.id) return null;
  if (event.type === 'task.moved') return event.to;
  if (event.type === 'task.blocked') return 'blocked';
  return event.type === 'task.parked' ? 'needs_info' : null;
}

function whyNot(slice: Slice, rules: ProjectRules, task: Task, to: string): string {
  if (task.stage === to) return 'it is already there';
  if (task.stage === 'done')
    return to === 'cancelled' ? 'it is done and landed: revert its commit' : 'it is done: add a new task';
  if (task.prepared)
    return task.stage === 'blocked'
      ? 'it may have landed already: retry it, so that the merger can check'
      : 'it is landing: try again when the merger is done';
  const pipeline = rules.pipelines[task.pipeline];
  const stage = pipeline?.stages[to];
  if (to === 'done') return `Tidemill moves it there when ${finishing(Object.values(pipeline?.stages ?? {}))}`;
  if (task.lease) return `${workerName(task.lease.workerId)} is working on it: cancel it first, or wait`;
  if (openApproval(slice, task)) return 'it waits for your approval: approve it, or reject it with a note';
  const obstacle = jumpObstacle(rules, task, to);
  if (obstacle) return obstacle;
  if (stage?.actor === 'human' && !arePlansReviewed(rules, task))
    return `plans are not reviewed here: it would move to ${stage.on.approved}`;
  return `a person cannot move it there from ${task.stage}`;
}

const finishing = (stages: { actor: string; does?: string }[]) =>
  stages.some(({ does }) => does === 'merge') ? 'it has landed' : 'its last stage is done';
