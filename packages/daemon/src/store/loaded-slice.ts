import { AppError, Evidence, Project, Run, StoredRecord, Task, Worker } from '@tidemill/contract';
import { type Rows, Slice } from '@tidemill/core';
import { ZodError, type z } from 'zod';

/** Twice as many texts at most; a batch of the largest size finds all of its candidates again. */
const GENERATION = 500;

/**
 * The same text is parsed once: a project's long document is in every batch and hardly ever changes, a candidate that
 * was not taken is in the next batch again. Rows are replaced, never mutated, so batches and readers may share them.
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

export class RowMemo {
  readonly projects = new Memo(Project, 'project');
  readonly tasks = new Memo(Task, 'task');
  readonly workers = new Memo(Worker, 'worker');
}

/** A row that is no row of its table. Whoever needs others beside it may go on without it. */
export class UnreadableRow extends AppError {
  readonly why: string;
  constructor(noun: string, text: string, cause: unknown) {
    const why = reasonOf(cause);
    super('store_failed', `A ${noun} in the store cannot be read: ${why}\n${text.slice(0, 200)}`, {
      cause,
      hint: 'Stop the daemon, then run `tidemill doctor --repair`: it sets the row aside and makes it anew from the log.',
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

/** A document of an older version gets the defaults of the fields it lacks; one that is broken is named. */
export function parseRow<T>(schema: z.ZodType<T>, noun: string, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new UnreadableRow(noun, text, error);
  }
}

/** Null for one that cannot be read. */
export function ifReadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableRow) return null;
    throw error;
  }
}

/**
 * A slice being filled from a database, and what was there before: saving needs to tell a new row from a changed one.
 * `Rows.load` keeps the first row of an id, so rows that were read under a lock must be loaded before those that were
 * not, whatever the order they were read in.
 */
export class LoadedSlice {
  readonly slice = new Slice();
  readonly #stored = new Set<string>();
  readonly #dependsOn = new Map<string, string[]>();
  readonly #memo: RowMemo;

  constructor(memo: RowMemo) {
    this.#memo = memo;
  }

  project(text: string): void {
    this.#load(this.slice.projects, this.#memo.projects.parse(text));
  }
  worker(text: string): void {
    this.#load(this.slice.workers, this.#memo.workers.parse(text));
  }
  run(text: string): void {
    this.#load(this.slice.runs, parseRow(Run, 'run', text));
  }
  record(text: string): void {
    this.#load(this.slice.records, parseRow(StoredRecord, 'record', text));
  }
  evidence(text: string): void {
    this.slice.loadEvidence(parseRow(Evidence, 'piece of evidence', text));
  }
  task(text: string): string {
    const task = this.#memo.tasks.parse(text);
    if (!this.#stored.has(task.id)) this.#dependsOn.set(task.id, task.dependsOn);
    this.#load(this.slice.tasks, task);
    return task.id;
  }
  tasks(texts: string[]): string[] {
    return texts.map((text) => this.task(text));
  }
  /** One of many that are looked through: the others are there without it. */
  readableTasks(texts: string[]): string[] {
    return texts.flatMap((text) => ifReadable(() => this.task(text)) ?? []);
  }
  readableRecord(text: string): void {
    ifReadable(() => this.record(text));
  }
  isStored(id: string): boolean {
    return this.#stored.has(id);
  }
  /** Saved tasks whose dependency rows must be written anew. */
  withNewDependencies(): Task[] {
    return [...this.slice.tasks.changed.values()].filter((task) => {
      const before = this.#dependsOn.get(task.id) ?? [];
      return before !== task.dependsOn && before.join(' ') !== task.dependsOn.join(' ');
    });
  }

  #load<T extends { id: string }>(rows: Rows<T>, row: T): void {
    this.#stored.add(row.id);
    rows.load(row);
  }
}
