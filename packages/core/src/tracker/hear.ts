import type { EventBody, Feedback, Project, Task } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { enter } from '../pipeline/enter.ts';
import { stageOf } from '../pipeline/stage.ts';
import { withdrawHolding } from '../question/answer.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { COMMENTED, wayBack } from '../task/unread.ts';
import { find } from './item.ts';

/** The newest of many comments are notes of their own. Older ones share a note, or are only feedback. */
const MOST_NOTES = 10;

/**
 * What people wrote about an item, each comment once. It decides nothing: no question is answered by it, and nothing is
 * approved or taken up again. Work that waits for a review, a landing or an approval goes back to its builder.
 */
export function hearComments(slice: Slice, command: CommandOf<'tracker_item.hear'>, env: DecideEnv): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { itemId, taskId } = command;
  const { item } = found;
  const task = slice.tasks.get(taskId);
  const project = slice.projects.get(command.projectId);
  if (!task || !project || item.taskId !== taskId)
    return refuse('conflict', `${item.key ?? itemId} has another task by now`);
  const fresh = command.comments.filter(({ id }) => !item.heard.includes(id));
  // A task that is taken up again gets them then.
  if (fresh.length === 0 || task.stage === 'done' || task.stage === 'cancelled') return accept();
  const authors = [...new Set(fresh.map(({ author }) => author))];
  const heard: EventBody = { type: 'tracker_item.heard', itemId, taskId, comments: fresh.map(({ id }) => id), authors };
  const texts = fresh.map(({ text }) => text);
  const older = command.isFirst ? texts.slice(0, -MOST_NOTES).join('\n\n') : '';
  const noted = [...(older === '' ? [] : [older]), ...texts.slice(-MOST_NOTES)];
  const notes = noted.map((text) => noteOf(task, text, env));
  if (command.isFirst) return accept(heard, ...notes);
  const feedback: Feedback[] = fresh.map(({ text }) => ({ kind: 'person', text, files: [], isUnread: true }));
  const given: EventBody = { type: 'task.feedback_given', taskId, feedback };
  return accept(heard, ...notes, given, ...sentBack(slice, project, { ...task, feedback }, env));
}

/** A worker that holds the task is not interrupted: the next one sends it back. */
function sentBack(slice: Slice, project: Project, task: Task, env: DecideEnv): EventBody[] {
  const to = task.lease ? null : wayBack(project.rules, task);
  if (to === null) return [];
  const stage = stageOf(project.rules, task);
  // What is offered outside has to be taken back first, so the merger does it.
  if (stage?.actor === 'system' && stage.does === 'merge')
    return [{ type: 'task.waiting', taskId: task.id, why: 'it is retried', until: env.now, isPassing: true }];
  return [...withdrawHolding(slice, task, COMMENTED), ...enter(slice, project.rules, task, { to, because: COMMENTED })];
}

const noteOf = ({ id: taskId }: Task, summary: string, { now: at }: DecideEnv): EventBody => ({
  type: 'task.noted',
  taskId,
  entry: { runId: null, source: 'person', entryType: 'note', summary, at },
});
