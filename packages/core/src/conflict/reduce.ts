import type { EventBody, Task } from '@tidemill/contract';

type Ended = Extract<EventBody, { type: 'conflict.settled' | 'conflict.aborted' }>;

/** Either way no agent has to deal with it any more; what a person said about the task stays. */
export function taskAfterConflict(task: Task, body: Ended): Partial<Task> {
  const kept = task.feedback.filter(({ kind }) =>
    body.type === 'conflict.settled' ? kind !== 'conflict' : kind === 'person',
  );
  const feedback = { feedback: kept, rework: kept.length > 0 };
  // Another branch: whatever is left of the old one is nobody's, however this process ends.
  return body.type === 'conflict.settled' ? feedback : { ...feedback, branch: body.branch, head: null };
}
