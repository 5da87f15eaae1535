import { workerName } from '@tidemill/contract';
import { findTask } from '../check-fence.ts';
import type { CommandOf, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

export function assignTask(slice: Slice, command: CommandOf<'task.assign'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  const { workerId, by } = command;
  const worker = workerId === null ? null : slice.workers.get(workerId);
  if (worker === undefined || (worker && worker.projectId !== task.projectId))
    return refuse('not_found', `there is no worker ${workerId && workerName(workerId)}`);
  if (worker && worker.role !== 'builder')
    return refuse('bad_input', `${worker.name} is a ${worker.role}`, 'assign tasks to builders: agent-1 …');
  if (task.stage === 'done' || task.stage === 'cancelled')
    return refuse('wrong_stage', `#${task.number} is ${task.stage}`, 'only unfinished tasks can be assigned');
  if (task.assignee === workerId) return accept();
  return accept({ type: 'task.assigned', taskId: task.id, workerId, by });
}
