import type { Feedback, Task } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import { namedOvertakers } from '../pipeline/overtaken.ts';
import { changeTask } from '../task-row.ts';

/** When a conflict is over, its feedback is removed. What a person said about the task stays. */
export const conflictEvents = {
  'conflict.met': (slice, body, { at }) =>
    changeTask(slice, body, ({ conflicts }) => ({
      conflicts: {
        base: body.base,
        at,
        resolved: body.resolved,
        overtakenBy: namedOvertakers(conflicts?.overtakenBy ?? [], body.overtakenBy),
        idleTries: conflicts?.idleTries ?? 0,
      },
    })),
  'conflict.retried': (slice, body) =>
    changeTask(slice, body, ({ conflicts }) =>
      conflicts ? { conflicts: { ...conflicts, idleTries: body.tries } } : null,
    ),
  // The files change again, so the conflict is not settled yet.
  'conflict.file_resolved': (slice, body) => changeTask(slice, body, noLongerSettling),
  'conflict.settle_begun': (slice, body, { at }) =>
    changeTask(slice, body, () => ({ settling: { by: body.by, at, accepts: body.accepts } })),
  // Settling an earlier conflict does not settle a new one of the same task.
  'task.blocked': (slice, body) => changeTask(slice, body, noLongerSettling),
  'conflict.settled': (slice, body) =>
    changeTask(slice, body, (task) => ({
      ...left(task.feedback.filter(({ kind }) => kind !== 'conflict')),
      settling: null,
      acceptedLosses: [...new Set([...task.acceptedLosses, ...body.accepts.map(({ content }) => content)])],
    })),
  // A new branch: nothing uses the old one any more, even after a crash.
  'conflict.aborted': (slice, body) =>
    changeTask(slice, body, (task) => ({
      ...left(task.feedback.filter(({ kind }) => kind === 'person')),
      branch: body.branch,
      head: null,
      settling: null,
      acceptedLosses: [],
    })),
} satisfies Reductions;

const noLongerSettling = ({ settling }: Task) => (settling ? { settling: null } : null);

const left = (feedback: Feedback[]) => ({ feedback, rework: feedback.length > 0 });
