import { hash } from 'node:crypto';
import { z } from 'zod';

const ListPosition = z.object({ since: z.string(), seen: z.array(z.tuple([z.number(), z.string()])) });
/** Where the next reading of a list begins, and what was already seen of that second: GitHub returns it again. */
export type ListPosition = z.infer<typeof ListPosition>;

const IssueCursor = z.object({ issues: ListPosition, comments: ListPosition });
export type IssueCursor = z.infer<typeof IssueCursor>;

const sumOf = (row: object) => hash('sha256', JSON.stringify(row));

export function seenOf(since: string, rows: readonly { id: number; updated_at: string }[]): ListPosition {
  const newest = rows.at(-1)?.updated_at ?? since;
  const there = rows.filter(({ updated_at: at }) => at === newest);
  return { since: newest, seen: there.map((row) => [row.id, sumOf(row)]) };
}

/** The rows that the last reading did not have. */
export function freshIn<T extends { id: number }>({ seen }: ListPosition, rows: readonly T[]): T[] {
  const before = new Map(seen);
  return rows.filter((row) => before.get(row.id) !== sumOf(row));
}

/** `reads` makes each one different. */
export const writeCursor = (cursor: IssueCursor, reads: number): string => JSON.stringify({ ...cursor, reads });

/** Null for one of another tracker: everything is read again. */
export function readCursor(text: string): IssueCursor | null {
  try {
    return IssueCursor.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
