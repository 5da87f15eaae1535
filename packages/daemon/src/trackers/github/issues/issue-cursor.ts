import { hash } from 'node:crypto';
import { z } from 'zod';
import type { RestIssue } from './raw-issue.ts';

/** Where the next reading begins, and what was already seen of that second: GitHub returns it again. */
const IssueCursor = z.object({ since: z.string(), seen: z.array(z.tuple([z.number(), z.string()])) });
export type IssueCursor = z.infer<typeof IssueCursor>;

export const sumOf = (row: RestIssue) => hash('sha256', JSON.stringify(row));

/** `reads` makes each one different. */
export function writeCursor(since: string, rows: readonly RestIssue[], reads: number): string {
  const there = rows.filter(({ updated_at: at }) => at === since);
  return JSON.stringify({ since, seen: there.map((row) => [row.number, sumOf(row)]), reads });
}

/** Null for one of another tracker: everything is read again. */
export function readCursor(text: string): IssueCursor | null {
  try {
    return IssueCursor.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
