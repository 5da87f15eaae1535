import type { EventBody, Task } from '@tidemill/contract';

export const canPark = ({ stage }: Pick<Task, 'stage'>) =>
  !['done', 'cancelled', 'blocked', 'needs_info'].includes(stage);

export function parked(task: Task, from: string, holding: { text: string }[]): EventBody {
  return { type: 'task.parked', taskId: task.id, from, questions: holding.map(({ text }) => text) };
}

/** A released task with open questions waits in `needs_info`. */
export function parkedIfAsking(task: Task): EventBody[] {
  return task.openQuestions.length > 0 && canPark(task) ? [parked(task, task.stage, task.openQuestions)] : [];
}
