import type { Feedback } from '@tidemill/contract';
import { changesNothing, type Reductions } from '../noun.ts';
import { changeTask } from '../task-row.ts';

/** Once a conflict is over, no agent has to deal with it any more; what a person said about the task stays. */
export const conflictEvents = {
  'conflict.file_resolved': changesNothing,
  'conflict.settled': (slice, body) =>
    changeTask(slice, body, (task) => left(task.feedback.filter(({ kind }) => kind !== 'conflict'))),
  // Another branch: whatever is left of the old one is nobody's, however this process ends.
  'conflict.aborted': (slice, body) =>
    changeTask(slice, body, (task) => ({
      ...left(task.feedback.filter(({ kind }) => kind === 'person')),
      branch: body.branch,
      head: null,
    })),
} satisfies Reductions;

const left = (feedback: Feedback[]) => ({ feedback, rework: feedback.length > 0 });
