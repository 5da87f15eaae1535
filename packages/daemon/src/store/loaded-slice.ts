import { Evidence, Project, Run, Task, Worker } from '@tidemill/contract';
import { type Rows, Slice } from '@tidemill/core';

/**
 * A slice being filled from a database, and what was there before: saving needs to tell a new row from a changed one.
 * `Rows.load` keeps the first row of an id, so rows that were read under a lock must be loaded before those that were
 * not, whatever the order they were read in.
 */
export class LoadedSlice {
  readonly slice = new Slice();
  readonly #stored = new Set<string>();
  readonly #dependsOn = new Map<string, string[]>();

  project(doc: unknown): void {
    this.#load(this.slice.projects, Project.parse(doc));
  }
  worker(doc: unknown): void {
    this.#load(this.slice.workers, Worker.parse(doc));
  }
  run(doc: unknown): void {
    this.#load(this.slice.runs, Run.parse(doc));
  }
  evidence(doc: unknown): void {
    this.slice.loadEvidence(Evidence.parse(doc));
  }
  task(doc: unknown): string {
    const task = Task.parse(doc);
    if (!this.#stored.has(task.id)) this.#dependsOn.set(task.id, task.dependsOn);
    this.#load(this.slice.tasks, task);
    return task.id;
  }
  tasks(docs: unknown[]): string[] {
    return docs.map((doc) => this.task(doc));
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
