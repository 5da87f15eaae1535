import {
  type InboxItem,
  inboxTitle,
  type ProjectStatus,
  plainLine,
  plainText,
  type TaskSummary,
} from '@tidemill/contract';

// Agents, programs and strangers write these texts. Without characters that hide or reorder the text beside them.

export function harmlessStatus(status: ProjectStatus): ProjectStatus {
  const workers = status.workers.map((worker) => ({
    ...worker,
    lastError: worker.lastError === null ? null : plainText(worker.lastError),
    task: worker.task && { ...worker.task, title: plainLine(worker.task.title) },
    progress: worker.progress && {
      ...worker.progress,
      text: plainLine(worker.progress.text),
      todo: worker.progress.todo.map((step) => ({ ...step, text: plainLine(step.text) })),
    },
  }));
  return {
    ...status,
    workers,
    alerts: status.alerts.map(harmlessItem),
    holds: status.holds.map(plainLine),
    warnings: status.warnings.map(plainLine),
  };
}

export const harmlessItem = (item: InboxItem): InboxItem => ({
  ...item,
  title: plainText(inboxTitle(item)),
  text: plainText(item.text),
  task: item.task && { ...item.task, title: plainLine(item.task.title) },
});

export const harmlessTask = (task: TaskSummary): TaskSummary => ({
  ...task,
  title: plainLine(task.title),
  waiting: task.waiting === null ? null : plainLine(task.waiting),
});
