import type { EventBody, Task } from '@tidemill/contract';

export const canPark = ({ stage }: Pick<Task, 'stage'>) =>
  !['done', 'cancelled', 'blocked', 'needs_info'].includes(stage);

export function parked(task: Task, from: string, holding: { text: string }[]): EventBody {
  return { type: 'task.parked', taskId: task.id, from, questions: holding.map(({ text }) => text) };
}

/** A task whose worker lets go of it waits where everybody sees it, if it has asked something meanwhile. */
export function parkedIfAsking(task: Task): EventBody[] {
  return task.openQuestions.length > 0 && canPark(task) ? [parked(task, task.stage, task.openQuestions)] : [];
}
