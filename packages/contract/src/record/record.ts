import { z } from 'zod';
import { RECORD_KINDS } from '../nouns.ts';
import type { RecordColumns, RecordText } from './kind.ts';

type Schemas<E extends readonly { schema: unknown }[]> = { [I in keyof E]: E[I]['schema'] };

/**
 * Nouns without their own columns: a store keeps them in one table, found by id, by noun and project, by parent, and by
 * whether they are open.
 */
export const StoredRecord = z.discriminatedUnion(
  'noun',
  RECORD_KINDS.map(({ schema }) => schema) as unknown as Schemas<typeof RECORD_KINDS>,
);
export type StoredRecord = z.infer<typeof StoredRecord>;
export type RecordNoun = StoredRecord['noun'];
export type RecordOf<N extends RecordNoun> = Extract<StoredRecord, { noun: N }>;

const COLUMNS = new Map<RecordNoun, (record: StoredRecord) => RecordColumns>(
  RECORD_KINDS.map(({ schema, columns }) => [
    schema.shape.noun.value,
    columns as (record: StoredRecord) => RecordColumns,
  ]),
);

export const recordColumns = (record: StoredRecord): RecordColumns => COLUMNS.get(record.noun)!(record);

const TEXTS = new Map<RecordNoun, RecordText<StoredRecord> | undefined>(
  RECORD_KINDS.map(({ schema, search }) => [schema.shape.noun.value, search as RecordText<StoredRecord> | undefined]),
);

/** What a record is searched by; null for a noun that is not searched. */
export function recordText(record: StoredRecord): { text: string; tags: string[] } | null {
  const search = TEXTS.get(record.noun);
  return search ? { text: search.text(record), tags: search.tags?.(record) ?? [] } : null;
}
