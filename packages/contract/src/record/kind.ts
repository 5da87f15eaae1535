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

/** What a record is searched by. */
export interface RecordText<Row> {
  /** Its text. Words in it are found in any of their usual forms. */
  text(row: Row): string;
  /** Exact values for filters, such as `type:note`. */
  tags?(row: Row): string[];
}

/** A noun without its own table: its rows share one table and are found by these columns, and by text if it has one. */
export const recordKind = <S extends z.ZodType<{ noun: string; id: string; projectId: string }>>(
  schema: S,
  columns: (row: z.infer<S>) => RecordColumns,
  search?: RecordText<z.infer<S>>,
) => ({ schema, columns, search });
