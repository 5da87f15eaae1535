import type { z } from 'zod';

/** What a query needs to know of a record without reading it. */
export interface RecordColumns {
  /** What it belongs to: a task, or its project. */
  parent: string;
  /** Waits for something: an answer, a delivery. */
  isOpen: boolean;
  /** When somebody has to look at it; null when nobody has to. */
  dueAt: number | null;
}

/** A noun that needs no table of its own: its rows are kept with those of others, found by these columns. */
export const recordKind = <S extends z.ZodType<{ noun: string; id: string; projectId: string }>>(
  schema: S,
  columns: (row: z.infer<S>) => RecordColumns,
) => ({ schema, columns });
