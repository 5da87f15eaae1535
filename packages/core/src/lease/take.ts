import type { EventBody } from '@tidemill/contract';
import type { CommandOf, Decision } from '../command.ts';
import { findTask } from '../fence.ts';
import { parkedIfAsking } from '../pipeline/park.ts';
import { accept } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { interruptRun, released } from './lease.ts';

/** Interruptions for silence, since the last success, after which a person is asked. */
const MAX_STUCK = 3;

/** Takes a task from its worker. The work is kept; the task waits in its stage for the next worker, or for answers. */
export function takeLease(slice: Slice, command: CommandOf<'lease.take'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  if (!task.lease) return accept();
  const why = `${command.why} (${command.by})`;
  const stopped = interruptRun(slice, task, why);
  if (!command.isStuck) return accept(...stopped, released(task, why), ...parkedIfAsking(task));
  const count = (task.counters.failures.stuck ?? 0) + 1;
  const counted: EventBody = { type: 'failure.counted', taskId: task.id, failure: 'stuck', count, notBefore: 0 };
  if (count < MAX_STUCK) return accept(...stopped, counted, released(task, why), ...parkedIfAsking(task));
  const text = `Its agent was silent for half an hour, ${count} times. Its work is kept; retry it with a note, or cancel it.`;
  const blocked = { type: 'task.blocked', taskId: task.id, from: task.stage, reason: 'no_progress', text } as const;
  return accept(...stopped, counted, blocked, released(task, why));
}
