import type { Feedback, ProjectRules, Task } from '@tidemill/contract';
import { stageNamed, stageOf } from '../pipeline/stage.ts';

export const COMMENTED = 'people commented';

export const withFeedback = (feedback: Feedback[]): Pick<Task, 'feedback' | 'rework'> => ({
  feedback,
  rework: feedback.length > 0,
});

export function asRead(feedback: Feedback): Feedback {
  const { isUnread: _unread, ...read } = feedback;
  return read;
}

/**
 * The stage of the builder that the task goes back to, because people said something about it that no builder was told. Null:
 * a builder is next anyway, the work may have landed already, or the pipeline has no way back.
 */
export function wayBack(rules: ProjectRules, task: Task): string | null {
  const stage = stageOf(rules, task);
  if (!stage || task.prepared || !task.feedback.some(({ isUnread }) => isUnread)) return null;
  if (stage.actor === 'agent' && stage.mode !== 'review') return null;
  const on = stage.on as { changes_requested?: string; failed?: string };
  const to = on.changes_requested ?? on.failed ?? '';
  const back = stageNamed(rules, task, to);
  return back?.actor === 'agent' && back.mode !== 'review' ? to : null;
}
