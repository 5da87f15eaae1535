import { type ProjectStatus, type TaskDetail, workerName } from '@tidemill/contract';
import { WHY } from '../stage/flow.ts';

/** Why a task does not go on, in words, and what a person can do about it. */
export interface TaskStanding {
  look: 'waiting' | 'idle' | 'paused';
  text: string;
  detail: string;
  act: 'answer' | 'decide' | 'retry' | 'conflict' | 'relations' | 'money' | 'fleet' | 'reassign' | null;
}

const says = (look: TaskStanding['look'], text: string, detail: string, act: TaskStanding['act']): TaskStanding => ({
  look,
  text,
  detail,
  act,
});

/** Null while somebody works on it, and when it is done. What a person has to do comes before what passes by itself. */
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
  if (mayApprove) return says('waiting', 'Waits for your approval', task.blocked?.text ?? asked?.text ?? '', 'decide');
  if (asked) return says('waiting', `Waits for your answer to ${asked.ref}`, asked.text, 'answer');
  if (task.blocked) return says('waiting', `Blocked: ${WHY[task.blocked.reason]}`, task.blocked.text, 'retry');
  if (task.stage === 'cancelled')
    return says('paused', 'Cancelled', 'Its work is kept. Retry opens it again.', 'retry');
  return null;
}

function inQueue({ task, related }: TaskDetail, status: ProjectStatus, now: number): TaskStanding {
  const first = related.filter(({ number, stage }) => task.after.includes(number) && stage !== 'done');
  const stopped = status.budget?.project.stopped ?? status.budget?.all.stopped;
  const able = status.workers.filter(({ role }) => role === task.role);
  if (task.waiting) return says('waiting', 'Waits', `${task.waiting}. It goes on by itself once that is done.`, null);
  if (!status.running) return says('waiting', 'The mill does not run on this project', 'Start it: tidemill up', null);
  if (task.unmet > 0)
    return says(
      'idle',
      `Waits for ${first.map(({ number }) => `#${number}`).join(', ') || 'other tasks'}`,
      firstText(first),
      'relations',
    );
  if (stopped) return says('waiting', 'The budget holds it', stopped, 'money');
  if (task.notBefore > now)
    return says('idle', 'Rests after a failure', `It is tried again at ${clock(task.notBefore)}.`, null);
  if (task.assignee !== null)
    return says('idle', `Waits for ${workerName(task.assignee)}`, 'Only that worker may take it.', 'reassign');
  if (able.length > 0 && able.every(({ desired }) => desired !== 'running'))
    return says('waiting', 'Every worker that could take it is paused or stopped', '', 'fleet');
  return says('idle', 'In the queue', 'The next free worker takes it.', null);
}

function firstText(first: TaskDetail['related']): string {
  const stuck = first
    .filter(({ stage }) => ['blocked', 'needs_info'].includes(stage))
    .map(({ number }) => `#${number}`);
  if (first.some(({ stage }) => stage === 'cancelled'))
    return 'One of them is cancelled: retry that one, or take it out of the list.';
  const needs = stuck.length > 0 ? ` ${stuck.join(', ')} ${stuck.length > 1 ? 'need' : 'needs'} you first.` : '';
  return `It begins by itself when they are done.${needs}`;
}

const clock = (at: number) => new Date(at).toLocaleTimeString('en-GB');

/** Whether a retry is a thing to offer: what nobody has begun needs none. */
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
