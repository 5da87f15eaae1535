import { AppError, Evidence, Project, Run, rowToday, StoredRecord, Task, Worker } from '@tidemill/contract';
import {
  Calendars,
  declared,
  keyOf,
  keysFor,
  type Lookup,
  type LookupName,
  Slice,
  type TableName,
  type TableRows,
} from '@tidemill/core';
import { ZodError, type z } from 'zod';

/** At most twice as many texts are kept, which is enough for all candidates of the largest batch. */
const GENERATION = 500;

/**
 * Parses the same text once: a project's long document is in every batch and rarely changes, and a candidate that was
 * not claimed is in the next batch again. Rows are replaced, never mutated, so batches and readers may share them.
 */
export class Memo<T> {
  readonly #schema: z.ZodType<T>;
  readonly #noun: string;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  constructor(schema: z.ZodType<T>, noun: string) {
    this.#schema = schema;
    this.#noun = noun;
  }

  parse(text: string): T {
    const known = this.#young.get(text);
    if (known) return known;
    const row = this.#old.get(text) ?? parseRow(this.#schema, this.#noun, text);
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, row);
    return row;
  }
}

/** How a document of each table is read. Rows that are read often are cached. */
export class RowMemo {
  readonly calendars = new Calendars();
  readonly #memos = {
    projects: new Memo(Project, 'project'),
    tasks: new Memo(Task, 'task'),
    workers: new Memo(Worker, 'worker'),
  };

  parse<T extends TableName>(table: T, text: string): TableRows[T] {
    return this.#parse(table, text) as TableRows[T];
  }
  #parse(table: TableName, text: string): TableRows[TableName] {
    switch (table) {
      case 'projects':
      case 'tasks':
      case 'workers':
        return this.#memos[table].parse(text);
      case 'runs':
        return parseRow(Run, 'run', text);
      case 'records':
        return parseRow(StoredRecord, 'record', text);
      case 'evidence':
        return parseRow(Evidence, 'piece of evidence', text);
    }
  }
}

/** A row that does not fit its schema. Readers of several rows may ignore it. */
export class UnreadableRow extends AppError {
  readonly why: string;
  constructor(noun: string, text: string, cause: unknown) {
    const why = reasonOf(cause);
    super('store_failed', `A ${noun} in the store cannot be read: ${why}\n${text.slice(0, 200)}`, {
      cause,
      hint: 'Stop the daemon, then run `tidemill doctor --repair`: it sets the row aside and rebuilds it from the log.',
    });
    this.why = why;
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof ZodError)
    return cause.issues
      .map(({ path, message }) => `${path.join('.')}: ${message}`)
      .join('; ')
      .slice(0, 500);
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 500);
}

/** A document of an earlier version is read in the current shape; a broken one is an error. */
export function parseRow<T>(schema: z.ZodType<T>, noun: string, text: string, today = rowToday): T {
  try {
    return schema.parse(today(JSON.parse(text)));
  } catch (error) {
    throw new UnreadableRow(noun, text, error);
  }
}

/** Null for a row that cannot be read. */
export function ifReadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableRow) return null;
    throw error;
  }
}

/**
 * A slice loaded from a database, and which rows existed before: saving must distinguish new from changed rows.
 * `Rows.load` keeps the first row of an id, so rows that were read under a lock must be loaded before those that were
 * not, whatever the order they were read in.
 */
export class LoadedSlice {
  readonly slice: Slice;
  readonly #stored = new Set<string>();
  readonly #dependsOn = new Map<string, string[]>();
  readonly #memo: RowMemo;

  constructor(memo: RowMemo) {
    this.#memo = memo;
    this.slice = new Slice({ calendars: memo.calendars });
  }

  /** The documents that a lookup found. */
  take(lookup: Lookup, docs: readonly string[]): void {
    this.slice.load(lookup, this.#read(lookup.find, docs));
  }
  /** The documents that several lookups of one kind found together: each gets its matches. */
  takeAll(lookups: readonly Lookup[], docs: readonly string[]): void {
    const [first] = lookups;
    if (!first || lookups.length === 1) {
      if (first) this.take(first, docs);
      return;
    }
    const byKey = new Map<string, TableRows[TableName][]>();
    for (const row of this.#read(first.find, docs))
      for (const key of keysFor(first.find, row)) byKey.set(key, [...(byKey.get(key) ?? []), row]);
    for (const lookup of lookups) this.slice.load(lookup, byKey.get(keyOf(lookup)) ?? []);
  }
  isStored(id: string): boolean {
    return this.#stored.has(id);
  }
  /** Saved tasks whose dependency rows must be written again. */
  withNewDependencies(): Task[] {
    return [...this.slice.tasks.changed.values()].filter((task) => {
      const before = this.#dependsOn.get(task.id) ?? [];
      return before !== task.dependsOn && before.join(' ') !== task.dependsOn.join(' ');
    });
  }

  #read(find: LookupName, docs: readonly string[]): TableRows[TableName][] {
    const { table, lenient } = declared(find);
    const read = (doc: string) => this.#memo.parse(table, doc);
    const rows = lenient ? docs.flatMap((doc) => ifReadable(() => read(doc)) ?? []) : docs.map(read);
    for (const row of rows) {
      if (table === 'tasks' && !this.#stored.has(row.id)) this.#dependsOn.set(row.id, (row as Task).dependsOn);
      this.#stored.add(row.id);
    }
    return rows;
  }
}
