import type { EventBody, Task } from '@tidemill/contract';

/** No transition is possible: raises an alert and asks a person. */
export function deadEnd(task: Task, text: string): EventBody[] {
  return [
    {
      type: 'alert.raised',
      taskId: task.id,
      kind: 'no_transition',
      text,
      severity: 'error',
      subject: task.id,
      count: 1,
    },
    { type: 'task.blocked', taskId: task.id, from: task.stage, reason: 'no_transition', text },
  ];
}
