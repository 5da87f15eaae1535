import { setImmediate } from 'node:timers/promises';
import { changesSummary, isSignOfLife } from '@tidemill/contract';
import type { Services } from '../handlers/context.ts';
import { summaries } from '../handlers/find.ts';
import { status } from '../handlers/project/status.ts';
import type { BoundedSender } from './bounded-sender.ts';
import type { StreamLimits } from './limits.ts';
import type { Line } from './tail.ts';
import { Throttle } from './throttle.ts';

const TASKS_PER_MESSAGE = 100;
/** Building views takes at most a fifth of the time, for any size of project. */
const REST = 4;

/** The task whose summary an event may have changed. */
export const changedTask = ({ taskId, type }: Line): string | null => (changesSummary(type) ? taskId : null);

/** A viewer of a project. */
export interface Viewer {
  outlet: BoundedSender;
  /** Tasks that changed while the viewer could not receive. */
  missed: Set<string>;
  missesStatus: boolean;
}

interface ViewOptions {
  services(): Services;
  limits: StreamLimits;
  onError(error: unknown): void;
}

/** The state of each viewed project, built once for all its viewers. */
export class Views {
  readonly #options: ViewOptions;
  readonly #projects = new Map<string, ProjectViews>();

  constructor(options: ViewOptions) {
    this.#options = options;
  }

  join(projectId: string, viewer: Viewer): ProjectViews {
    const views = this.#projects.get(projectId) ?? new ProjectViews(projectId, this.#options);
    this.#projects.set(projectId, views);
    views.join(viewer);
    return views;
  }
  leave(projectId: string, viewer: Viewer): void {
    const views = this.#projects.get(projectId);
    if (!views?.leave(viewer)) return;
    this.#projects.delete(projectId);
    void views.stop();
  }
  note(lines: Line[]): void {
    for (const [projectId, views] of this.#projects) views.note(lines.filter((line) => line.projectId === projectId));
  }
  async stop(): Promise<void> {
    await Promise.all([...this.#projects.values()].map((views) => views.stop()));
    this.#projects.clear();
  }
}

export class ProjectViews {
  readonly #id: string;
  readonly #options: ViewOptions;
  readonly #viewers = new Set<Viewer>();
  readonly #changed = new Set<string>();
  readonly #tasks: Throttle;
  readonly #status: Throttle;
  readonly #still: NodeJS.Timeout;

  constructor(id: string, options: ViewOptions) {
    this.#id = id;
    this.#options = options;
    this.#tasks = new Throttle(() => this.#sendTasks(), options.onError, REST);
    this.#status = new Throttle(() => this.#sendStatus(), options.onError, REST);
    this.#still = setInterval(() => this.#status.ring(options.limits.stillMs), options.limits.stillMs);
  }

  join(viewer: Viewer): void {
    this.#viewers.add(viewer);
    this.#status.ring(this.#options.limits.statusMs);
  }
  /** Whether there are no viewers left. */
  leave(viewer: Viewer): boolean {
    this.#viewers.delete(viewer);
    return this.#viewers.size === 0;
  }
  async stop(): Promise<void> {
    clearInterval(this.#still);
    await Promise.all([this.#tasks.stop(), this.#status.stop()]);
  }

  note(lines: Line[]): void {
    if (lines.length === 0) return;
    const { tasksMs, statusMs, beatMs } = this.#options.limits;
    for (const id of lines.map(changedTask)) if (id !== null) this.#changed.add(id);
    if (this.#changed.size > 0) this.#tasks.ring(tasksMs);
    this.#status.ring(lines.every(({ type }) => isSignOfLife(type)) ? beatMs : statusMs);
  }

  /** Sends the current state of missed changes to a viewer that has caught up. */
  async repair(viewer: Viewer): Promise<void> {
    const { outlet, missed } = viewer;
    if (viewer.missesStatus) this.#status.ring(this.#options.limits.statusMs);
    viewer.missesStatus = false;
    while (missed.size > 0 && outlet.isOpen && !outlet.isFull) {
      const ids = [...missed].slice(0, TASKS_PER_MESSAGE);
      for (const id of ids) missed.delete(id);
      outlet.send(await this.#tasksMessage(ids));
      await setImmediate();
    }
  }

  async #sendTasks(): Promise<void> {
    const all = [...this.#changed];
    this.#changed.clear();
    for (let start = 0; start < all.length; start += TASKS_PER_MESSAGE) {
      const ids = all.slice(start, start + TASKS_PER_MESSAGE);
      const message = await this.#tasksMessage(ids);
      for (const { outlet, missed } of this.#viewers) {
        if (outlet.isFull) for (const id of ids) missed.add(id);
        else outlet.send(message);
      }
      await setImmediate();
    }
  }

  async #tasksMessage(ids: string[]): Promise<Buffer> {
    const { store } = this.#options.services();
    const tasks = await summaries(store, await store.tasks({ projectId: this.#id, ids }));
    return bytesOf({ type: 'tasks', project: this.#id, tasks });
  }

  /** A viewer that is busy gets a newer state later. */
  async #sendStatus(): Promise<void> {
    const now = await status(this.#options.services(), { project: this.#id });
    const message = bytesOf({ type: 'status', status: now });
    for (const viewer of this.#viewers) {
      if (viewer.outlet.isFull) viewer.missesStatus = true;
      else viewer.outlet.send(message);
    }
  }
}

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
