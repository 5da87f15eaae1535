import type { z } from 'zod';

/** The columns of a record, for queries that do not read it. */
export interface RecordColumns {
  /** What it belongs to: a task, or its project. */
  parent: string;
  /** Still waiting: for an answer, a delivery. */
  isOpen: boolean;
  /** When it must be processed; null when it need not be. */
  dueAt: number | null;
}

/** A noun without its own table: its rows share one table and are found by these columns. */
export const recordKind = <S extends z.ZodType<{ noun: string; id: string; projectId: string }>>(
  schema: S,
  columns: (row: z.infer<S>) => RecordColumns,
) => ({ schema, columns });
