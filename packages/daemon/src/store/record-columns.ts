import { type Run, recordColumns, type StoredRecord } from '@tidemill/contract';

/** Columns beside the document, in the order of their values. */
export const RECORD_COLUMNS = ['id', 'noun', 'project_id', 'task_id', 'is_open', 'due_at', 'doc'];
export const RUN_COLUMNS = ['id', 'task_id', 'project_id', 'ended_at', 'doc'];

type ColumnValue = string | number | null;

export function recordValues(record: StoredRecord): ColumnValue[] {
  const { taskId, isOpen, dueAt } = recordColumns(record);
  return [record.id, record.noun, record.projectId, taskId, isOpen ? 1 : 0, dueAt];
}

export function runValues({ id, taskId, projectId, endedAt }: Run): ColumnValue[] {
  return [id, taskId, projectId, endedAt];
}
