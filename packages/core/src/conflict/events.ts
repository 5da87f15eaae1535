import type { Feedback, Task } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import { changeTask } from '../task-row.ts';

/** Once a conflict is over, no agent has to deal with it any more; what a person said about the task stays. */
export const conflictEvents = {
  // Somebody works on it again, so it is not settled yet.
  'conflict.file_resolved': (slice, body) => changeTask(slice, body, noLongerSettling),
  'conflict.settle_begun': (slice, body, { at }) => changeTask(slice, body, () => ({ settling: { by: body.by, at } })),
  // Another conflict of the same task is not settled by what was said of an earlier one.
  'task.blocked': (slice, body) => changeTask(slice, body, noLongerSettling),
  'conflict.settled': (slice, body) =>
    changeTask(slice, body, (task) => ({
      ...left(task.feedback.filter(({ kind }) => kind !== 'conflict')),
      settling: null,
    })),
  // Another branch: whatever is left of the old one is nobody's, however this process ends.
  'conflict.aborted': (slice, body) =>
    changeTask(slice, body, (task) => ({
      ...left(task.feedback.filter(({ kind }) => kind === 'person')),
      branch: body.branch,
      head: null,
      settling: null,
    })),
} satisfies Reductions;

const noLongerSettling = ({ settling }: Task) => (settling ? { settling: null } : null);

const left = (feedback: Feedback[]) => ({ feedback, rework: feedback.length > 0 });
