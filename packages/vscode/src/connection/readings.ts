import {
  type Api,
  AppError,
  describeEvent,
  type LoggedEvent,
  plainLine,
  shownTo,
  stageOrder,
  type TaskSummary,
  taskIdOf,
} from '@tidemill/contract';
import { harmlessItem, harmlessStatus, harmlessTask } from './harmless.ts';
import type { ActivityLine, Seen, SeenPart } from './seen.ts';

const PATIENCE_MS = 10_000;
/** Between two rounds of reading, so that a burst of events costs one. */
const GAP_MS = 200;
const MOST_TASKS = 1000;
/** Finished tasks that are shown. */
const FINISHED = 50;
const ACTIVITY_KEPT = 50;
const LINE_CHARS = 240;
const ENDED = ['done', 'cancelled'];

interface ReadingsOptions {
  signal: AbortSignal;
  seen(): Seen;
  take(change: Partial<Seen>, part: SeenPart): void;
  onProblem(text: string): void;
  /** The daemon's answer has a form that is not known here. */
  onUnreadable(): void;
}

/** Reads the parts of the project that views show, one round at a time. */
export class Readings {
  readonly #options: ReadingsOptions;
  readonly #due = new Set<SeenPart>();
  /** Numbers and titles, for the activity. */
  readonly #names = new Map<string, { number: number; title: string }>();
  #isBusy = false;

  constructor(options: ReadingsOptions) {
    this.#options = options;
  }

  async status(api: Api, project: string): Promise<void> {
    await this.#guarded('status', async () => {
      const status = harmlessStatus(await api.status({ project }, this.#soon()));
      this.#options.take({ status, statusAt: Date.now() }, 'status');
    });
  }

  async project(api: Api, id: string): Promise<void> {
    await this.#guarded('state', async () => {
      const project = (await api.projects({}, this.#soon())).find((each) => each.id === id);
      if (project) this.#options.take({ project }, 'tasks');
    });
  }

  refresh(api: Api, project: string, parts: Iterable<SeenPart>, wanted: ReadonlySet<SeenPart>): void {
    for (const part of parts) if (wanted.has(part)) this.#due.add(part);
    if (!this.#isBusy) void this.#round(api, project);
  }

  /** Tasks that the daemon pushed. */
  merge(pushed: TaskSummary[]): void {
    const changed = pushed.map(harmlessTask);
    this.#learn(changed);
    const numbers = new Set(changed.map(({ number }) => number));
    const tasks = [...this.#options.seen().tasks.filter(({ number }) => !numbers.has(number)), ...changed];
    this.#options.take({ tasks: kept(tasks) }, 'tasks');
  }

  add(events: LoggedEvent[]): void {
    const before = this.#options.seen().activity;
    const known = new Set(before.map(({ seq }) => seq));
    const fresh = events
      .filter(({ seq, body }) => !known.has(seq) && shownTo(body) !== 'log')
      .map((e) => this.#line(e));
    if (fresh.length === 0) return;
    const activity = [...fresh, ...before].sort((a, b) => b.seq - a.seq).slice(0, ACTIVITY_KEPT);
    this.#options.take({ activity }, 'activity');
  }

  async #round(api: Api, project: string): Promise<void> {
    const { signal } = this.#options;
    this.#isBusy = true;
    while (this.#due.size > 0 && !signal.aborted) {
      const parts = [...this.#due];
      this.#due.clear();
      await Promise.all(parts.map((part) => this.#guarded(part, () => this.#read(part, api, project))));
      await new Promise((resolve) => setTimeout(resolve, GAP_MS));
    }
    this.#isBusy = false;
  }

  async #read(part: SeenPart, api: Api, project: string): Promise<void> {
    const { take } = this.#options;
    if (part === 'inbox') take({ inbox: (await api.inbox({ project }, this.#soon())).map(harmlessItem) }, part);
    else if (part === 'conflicts') take({ conflicts: await api.conflicts({ project }, this.#soon()) }, part);
    else if (part === 'tasks') await this.#readTasks(api, project);
    else if (part === 'activity') await this.#readActivity(api, project);
    else if (part === 'metrics')
      take({ metrics: await api.metrics({ project, period: '24h' }, this.#soon()), isMetricsOld: false }, part);
  }

  async #readTasks(api: Api, project: string): Promise<void> {
    const rules = this.#options.seen().project;
    const stages = rules ? ['open', 'needs_info', 'blocked', ...allStages(rules)] : undefined;
    const [active, ended] = await Promise.all([
      api.tasks({ project, stages, limit: MOST_TASKS }, this.#soon()),
      api.tasks({ project, stages: ENDED, newestFirst: true, limit: FINISHED }, this.#soon()),
    ]);
    this.#learn([...active, ...ended]);
    this.#options.take({ tasks: kept([...active, ...ended].map(harmlessTask)) }, 'tasks');
  }

  async #readActivity(api: Api, project: string): Promise<void> {
    const events = await api.recentEvents({ project, limit: 300 }, this.#soon());
    const shown = events.filter(({ body }) => shownTo(body) !== 'log').slice(0, ACTIVITY_KEPT);
    if (shown.some(({ body }) => this.#isUnknown(body)))
      this.#learn(await api.tasks({ project, newestFirst: true, limit: 500 }, this.#soon()));
    this.add(shown);
    // Nothing has happened yet: the view must not look as if it were still loading.
    if (shown.length === 0) this.#options.take({ activity: [] }, 'activity');
  }

  #isUnknown(body: LoggedEvent['body']): boolean {
    const id = taskIdOf(body);
    return id !== null && !this.#names.has(id);
  }

  #line({ seq, at, body }: LoggedEvent): ActivityLine {
    const { who, text } = describeEvent(body);
    const id = taskIdOf(body);
    const line = plainLine(text);
    const cut = line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line;
    return { seq, at, who, text: cut, type: body.type, taskId: id, task: this.#nameOf(id) };
  }

  #learn(tasks: TaskSummary[]): void {
    for (const { id, number, title } of tasks) this.#names.set(id, { number, title });
    // Events come before the tasks that they are about.
    const { activity } = this.#options.seen();
    if (!activity.some(({ taskId, task }) => task === null && this.#nameOf(taskId) !== null)) return;
    const named = activity.map((line) => (line.task ? line : { ...line, task: this.#nameOf(line.taskId) }));
    this.#options.take({ activity: named }, 'activity');
  }

  #nameOf(id: string | null): ActivityLine['task'] {
    return id === null ? null : (this.#names.get(id) ?? null);
  }

  async #guarded(part: SeenPart, read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (this.#options.signal.aborted) return;
      // A lost daemon is noticed by the stream, which says so.
      if (error instanceof AppError && error.code === 'daemon_unreachable') return;
      if (error instanceof AppError && error.code === 'version_mismatch') this.#options.onUnreadable();
      if (part === 'metrics') this.#options.take({ isMetricsOld: true }, part);
      this.#options.onProblem(`Reading the ${part} failed: ${error instanceof Error ? error.message : error}`);
    }
  }

  #soon(): AbortSignal {
    return AbortSignal.any([this.#options.signal, AbortSignal.timeout(PATIENCE_MS)]);
  }
}

const allStages = (project: NonNullable<Seen['project']>) => [
  ...new Set([
    ...stageOrder(project, {}),
    ...Object.values(project.rules.pipelines).flatMap(({ stages }) => Object.keys(stages)),
  ]),
];

/** By number; of the finished ones only the newest. */
function kept(tasks: TaskSummary[]): TaskSummary[] {
  const sorted = [...tasks].sort((a, b) => a.number - b.number);
  const ended = sorted.filter(({ stage }) => ENDED.includes(stage)).slice(-FINISHED);
  return [...sorted.filter(({ stage }) => !ENDED.includes(stage)), ...ended];
}
