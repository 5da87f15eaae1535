import type { EventBody } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { jobEnd } from '../job/job.ts';
import { accept } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { findWork, interruptRun, isJob, released } from '../work.ts';
import { endLease } from './lease.ts';

/** Interruptions for silence since the last success, before a person is asked. */
const MAX_STUCK = 3;
const SILENT = 'Its agent was silent for half an hour.';

/** Takes a task from its worker. The work is kept; the task waits in its stage for the next worker, or for answers. */
export function takeLease(slice: Slice, command: CommandOf<'lease.take'>, env: DecideEnv): Decision {
  const found = findWork(slice, command);
  if (!found.ok) return found;
  const { work } = found;
  if (!work.lease) return accept();
  const why = `${command.why} (${command.by.name})`;
  if (!command.isStuck) return accept(...endLease(slice, work, why));
  // A job has no stage that a person could repair: silence ends it.
  if (isJob(work))
    return accept(
      ...interruptRun(slice, work, why),
      released(work, why),
      ...jobEnd(slice, work, { status: 'failed', why: SILENT }, env),
    );
  const count = (work.counters.failures.stuck ?? 0) + 1;
  const counted: EventBody = { type: 'failure.counted', taskId: work.id, failure: 'stuck', count, notBefore: 0 };
  if (count < MAX_STUCK) return accept(counted, ...endLease(slice, work, why));
  const text = `${SILENT} This happened ${count} times. Its work is kept; retry it with a note, or cancel it.`;
  const blocked = { type: 'task.blocked', taskId: work.id, from: work.stage, reason: 'no_progress', text } as const;
  return accept(...interruptRun(slice, work, why), counted, blocked, released(work, why));
}
