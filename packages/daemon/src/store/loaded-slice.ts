import { AppError, Evidence, Project, Run, Task, Worker } from '@tidemill/contract';
import { type Rows, Slice } from '@tidemill/core';
import type { z } from 'zod';

const MOST_REMEMBERED = 50;

/** A project's document is long, every batch reads it and it hardly ever changes: the same text is parsed once. */
export class ProjectMemo {
  readonly #parsed = new Map<string, Project>();

  parse(text: string): Project {
    const known = this.#parsed.get(text);
    if (known) return known;
    const project = parseRow(Project, 'project', text);
    if (this.#parsed.size >= MOST_REMEMBERED) this.#parsed.clear();
    this.#parsed.set(text, project);
    return project;
  }
}

/** A document of an older version gets the defaults of the fields it lacks; one that is broken is named. */
export function parseRow<T>(schema: z.ZodType<T>, noun: string, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AppError(
      'store_failed',
      `A ${noun} in the store cannot be read: ${why.slice(0, 500)}\n${text.slice(0, 200)}`,
      {
        cause: error,
        hint: 'The row was damaged or written by another program. `tidemill doctor` compares all rows with the log.',
      },
    );
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
  readonly #projects: ProjectMemo;

  constructor(projects: ProjectMemo) {
    this.#projects = projects;
  }

  project(text: string): void {
    this.#load(this.slice.projects, this.#projects.parse(text));
  }
  worker(text: string): void {
    this.#load(this.slice.workers, parseRow(Worker, 'worker', text));
  }
  run(text: string): void {
    this.#load(this.slice.runs, parseRow(Run, 'run', text));
  }
  evidence(text: string): void {
    this.slice.loadEvidence(parseRow(Evidence, 'piece of evidence', text));
  }
  task(text: string): string {
    const task = parseRow(Task, 'task', text);
    if (!this.#stored.has(task.id)) this.#dependsOn.set(task.id, task.dependsOn);
    this.#load(this.slice.tasks, task);
    return task.id;
  }
  tasks(texts: string[]): string[] {
    return texts.map((text) => this.task(text));
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
