import { comingFiles, HELD_REASONS, type ProjectStatus, type TaskDetail, workerName } from '@tidemill/contract';

/** Why a task is not in progress, and what a person can do about it. */
export interface TaskStanding {
  look: 'waiting' | 'idle' | 'paused';
  text: string;
  detail: string;
  act: 'answer' | 'decide' | 'retry' | 'conflict' | 'dependencies' | 'budget' | 'fleet' | 'reassign' | null;
}

const says = (look: TaskStanding['look'], text: string, detail: string, act: TaskStanding['act']): TaskStanding => ({
  look,
  text,
  detail,
  act,
});

/** Null while a worker has the task and when it is done. Reasons that need a person come first. */
export function standingOf(detail: TaskDetail, status: ProjectStatus, now: number): TaskStanding | null {
  const { task, moves } = detail;
  if (task.stage === 'done') return null;
  return asksPerson(detail, moves) ?? (task.lease ? null : inQueue(detail, status, now));
}

function asksPerson({ task, questions }: TaskDetail, moves: TaskDetail['moves']): TaskStanding | null {
  const asked = questions.find(({ status, holds }) => status === 'open' && holds);
  const mayApprove = moves.some(({ via }) => via === 'approve');
  if (task.blocked?.reason === 'conflict')
    return says('waiting', 'A conflict with the target needs you', task.blocked.text, 'conflict');
  if (mayApprove)
    return says('waiting', 'Waiting for your approval', task.blocked?.text ?? asked?.text ?? '', 'decide');
  if (asked) return says('waiting', `Waiting for your answer to ${asked.ref}`, asked.text, 'answer');
  if (task.blocked) return says('waiting', `Blocked: ${HELD_REASONS[task.blocked.reason]}`, task.blocked.text, 'retry');
  if (task.stage === 'cancelled') return says('paused', 'Cancelled', 'Its work is kept. Retry reopens it.', 'retry');
  return null;
}

function inQueue({ task, related, coming }: TaskDetail, status: ProjectStatus, now: number): TaskStanding {
  const first = related.filter(({ number, stage }) => task.after.includes(number) && stage !== 'done');
  const stopped = status.budget?.project.stopped ?? status.budget?.all.stopped;
  const able = status.workers.filter(({ role }) => role === task.role);
  if (task.waiting) return says('waiting', 'Waiting', `${task.waiting}. It continues automatically after that.`, null);
  if (!status.running)
    return says('waiting', 'No daemon is working on this project', 'Start one with tidemill up', null);
  if (task.unmet > 0)
    return says(
      'idle',
      `Waiting for ${first.map(({ number }) => `#${number}`).join(', ') || 'other tasks'}`,
      firstText(first),
      'dependencies',
    );
  if (stopped) return says('waiting', 'Stopped by the budget', stopped, 'budget');
  if (task.notBefore > now)
    return says('idle', 'Waiting after a failure', `Next attempt at ${clock(task.notBefore)}.`, null);
  if (task.assignee !== null)
    return says('idle', `Waiting for ${workerName(task.assignee)}`, 'It is assigned to that worker.', 'reassign');
  const rival = coming.find(({ holds }) => holds);
  if (rival)
    return says(
      'idle',
      `Waiting for #${rival.number}`,
      `It is being built and will conflict in ${comingFiles(rival)}. This one starts when it is done, after an hour at the latest.`,
      null,
    );
  if (able.length > 0 && able.every(({ desired }) => desired !== 'running'))
    return says('waiting', 'All workers for it are paused or stopped', '', 'fleet');
  return says('idle', 'In the queue', 'The next free worker takes it.', null);
}

function firstText(first: TaskDetail['related']): string {
  const stuck = first
    .filter(({ stage }) => ['blocked', 'needs_info'].includes(stage))
    .map(({ number }) => `#${number}`);
  if (first.some(({ stage }) => stage === 'cancelled'))
    return 'One of them is cancelled. Retry it, or remove the dependency.';
  const needs = stuck.length > 0 ? ` ${stuck.join(', ')} ${stuck.length > 1 ? 'need' : 'needs'} you first.` : '';
  return `Starts automatically when ${first.length === 1 ? 'it is' : 'they are'} done.${needs}`;
}

const clock = (at: number) => new Date(at).toLocaleTimeString('en-GB');

/** Whether to offer a retry: not for a task that has not started. */
export const canRetry = ({ task, runs, moves }: TaskDetail) =>
  moves.some(({ via }) => via === 'retry') && (runs.length > 0 || task.stage !== 'open');

export const isOver = ({ task }: TaskDetail) => task.stage === 'done' || task.stage === 'cancelled';

/** The status colour of a task's stage. */
export function lookOf({ task, moves }: TaskDetail): string {
  if (task.stage === 'done') return 'landed';
  if (task.stage === 'cancelled') return 'paused';
  if (task.lease) return task.role === 'reviewer' ? 'reviewing' : 'working';
  const needsPerson = ['needs_info', 'blocked'].includes(task.stage) || moves.some(({ via }) => via === 'approve');
  return needsPerson || task.waiting !== null ? 'waiting' : 'idle';
}
