import { findTask } from '../check-fence.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept } from '../refusal.ts';
import type { Slice } from '../slice.ts';

export function wakeTask(slice: Slice, command: CommandOf<'task.wake'>, env: DecideEnv): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { id: taskId, lease, waiting } = found.task;
  if (lease || waiting === null) return accept();
  return accept({ type: 'task.waiting', taskId, why: 'it is retried', until: env.now, isPassing: true });
}
