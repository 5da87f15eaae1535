import { engineActor, type Task, type TrackerItem } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';
import { hasEnded } from './take-item.ts';

/**
 * A person who closes an item does not want its task any more. An item that is closed as completed while its task lands,
 * or after its branch was offered, may have been closed by the landing itself: that cancels nothing.
 */
export async function closedByPerson(deps: EngineDeps, item: TrackerItem, task: Task): Promise<boolean> {
  if (item.seen?.state !== 'closed' || hasEnded(task)) return false;
  const isLanding = task.prepared !== null || ((task.offered ?? task.pull) !== null && !item.seen.isRejected);
  if (isLanding) return false;
  const { store, project, onNote } = deps;
  const cancel = { type: 'task.cancel', projectId: project.id, taskId: task.id, by: engineActor('tracker') } as const;
  const reply = await store.execute(cancel);
  if (!reply.ok) onNote(`#${task.number} goes on although ${item.key} is closed: ${reply.refusal.message}`);
  return reply.ok;
}
