import {
  EVENT_VERSION,
  type Evidence,
  type LoggedEvent,
  type RecordNoun,
  type RecordOf,
  recordColumns,
  type StoredRecord,
  subjectIdOf,
  type Task,
} from '@tidemill/contract';
import {
  Calendars,
  declared,
  isOpenConflict,
  isReady,
  type Lookup,
  Slice,
  TABLES,
  type TableName,
} from '@tidemill/core';
import type { EventFilter, RecordQuery, RepairedRow, StoredRow, Workload } from '../ports.ts';
import type { Driver, PendingEvent, Reads } from './driver.ts';
import { searchIn } from './memory-search.ts';
import { MemoryTables } from './memory-tables.ts';
import { runCount } from './run-count.ts';
import { tasksWhere } from './task-query.ts';

/** Rows in maps, for the simulator and for tests. Rows are never changed in place, so they are returned without a copy. */
export class MemoryDriver implements Driver {
  readonly #tables = new MemoryTables();
  readonly #projects = this.#tables.rows('projects');
  readonly #tasks = this.#tables.rows('tasks');
  readonly #runs = this.#tables.rows('runs');
  readonly #workers = this.#tables.rows('workers');
  readonly #evidence = this.#tables.rows('evidence');
  readonly #records = this.#tables.rows('records');
  /** The event with the number n is at n - 1; null where it was removed. */
  readonly #log: (LoggedEvent | null)[] = [];
  readonly #seqsByType = new Map<string, number[]>();
  readonly #calendars = new Calendars();
  readonly reads: Reads;

  constructor() {
    this.reads = this.#reads();
  }

  async transact(lookups: readonly Lookup[], now: number, work: (slice: Slice) => PendingEvent[]): Promise<number> {
    const slice = this.#load(lookups, now);
    const events = work(slice);
    const before = this.#log.length;
    for (const event of events) this.#append({ seq: this.#log.length + 1, v: EVENT_VERSION, ...event });
    this.#save(slice);
    return before;
  }
  #append(event: LoggedEvent): void {
    this.#log.push(event);
    const seqs = this.#seqsByType.get(event.body.type);
    if (seqs) seqs.push(event.seq);
    else this.#seqsByType.set(event.body.type, [event.seq]);
  }
  /** A microtask, not a timer: a virtual clock does not run timers. */
  defer(start: () => void): void {
    queueMicrotask(start);
  }
  watch(): () => void {
    return () => undefined;
  }
  async removeEvents(seqs: readonly number[]): Promise<number> {
    const gone = seqs.filter((seq) => seq < this.#log.length && this.#log[seq - 1]);
    for (const seq of gone) this.#log[seq - 1] = null;
    return gone.length;
  }
  /** Rows in memory cannot be damaged. */
  async repair(): Promise<RepairedRow[]> {
    return [];
  }
  async close(): Promise<void> {
    this.#log.length = 0;
    this.#seqsByType.clear();
  }

  #load(lookups: readonly Lookup[], now: number): Slice {
    const slice = new Slice({ calendars: this.#calendars });
    for (const lookup of lookups) {
      const { kind } = declared(lookup.find);
      const [first] = lookup.by;
      if (kind === 'edges') slice.loadEdges(this.#edgesOf(String(first)));
      else if (kind === 'count') slice.loadCount(lookup, this.#tables.find(lookup, now).length);
      else if (kind === 'lastRun') {
        const run = this.#runs.get(this.#tasks.get(String(first))?.lastRunId ?? '');
        slice.load(lookup, run ? [run] : []);
      } else slice.load(lookup, this.#tables.find(lookup, now));
    }
    return slice;
  }

  #edgesOf(projectId: string) {
    return [...this.#tasks.values()]
      .filter((task) => task.projectId === projectId && task.stage !== 'done')
      .flatMap(({ id, dependsOn }) => dependsOn.map((on) => [id, on] as const));
  }

  #save(slice: Slice): void {
    for (const table of Object.keys(TABLES) as TableName[]) {
      const { changed, removed } = slice[table];
      for (const row of changed.values()) this.#tables.put(table, row);
      for (const id of removed) this.#tables.remove(table, id);
    }
  }

  #reads(): Reads {
    const tasksOf = (projectId: string) =>
      // Insertion order is the order of numbers: a map keeps it over updates.
      [...this.#tasks.values()].filter((task) => task.projectId === projectId);
    return {
      projects: async () => [...this.#projects.values()],
      project: async (id) => this.#projects.get(id) ?? null,
      projectByRoot: async (root) => [...this.#projects.values()].find((project) => project.root === root) ?? null,
      task: async (id) => this.#tasks.get(id) ?? null,
      taskByNumber: async (projectId, number) => tasksOf(projectId).find((task) => task.number === number) ?? null,
      tasks: async (query) => tasksWhere(tasksOf(query.projectId), query),
      taskNumbers: async (ids) =>
        new Map(
          ids.flatMap((id) => {
            const task = this.#tasks.get(id);
            return task ? [[id, task.number] as const] : [];
          }),
        ),
      taskSpans: async ({ projectId, afterNumber, limit }) =>
        tasksOf(projectId)
          .filter(({ number }) => number > afterNumber)
          .slice(0, limit)
          .map(({ id, number, stage, createdAt, stageSince, runs }) => ({
            id,
            number,
            stage,
            createdAt,
            stageSince,
            runs: runCount(runs),
          })),
      leased: async (projectId) => tasksOf(projectId).filter(({ lease }) => lease !== null),
      workload: async (projectId, now) => workloadOf(tasksOf(projectId), now),
      nextNotBefore: async (projectId, now) => nextNotBefore(tasksOf(projectId), now),
      workers: async (projectId) => [...this.#workers.values()].filter((worker) => worker.projectId === projectId),
      run: async (id) => this.#runs.get(id) ?? null,
      runs: async (subjectId) => [...this.#runs.values()].filter((run) => run.subjectId === subjectId),
      evidence: async ({ projectId, afterPosition = 0, limit, taskId }) =>
        [...this.#evidence.values()]
          .filter((each) => each.projectId === projectId && each.position > afterPosition)
          .filter((each) => taskId === undefined || each.taskId === taskId)
          .slice(0, limit),
      evidenceForTree: async (projectId, tree) =>
        this.#tables.find({ find: 'evidenceFor', by: [projectId, tree] }, 0) as Evidence[],
      evidenceById: async (id) => this.#evidence.get(id) ?? null,
      evidenceByHash: async (hash) => [...this.#evidence.values()].find((each) => each.hash === hash) ?? null,
      runsEnded: async ({ projectId, after, limit }) =>
        [...this.#runs.values()]
          .filter((run) => run.projectId === projectId && run.endedAt !== null && run.endedAt > after)
          .map(({ endedAt, usage, ...run }) => ({ ...run, endedAt: endedAt!, costUsd: usage.costUsd }))
          .sort((a, b) => a.endedAt - b.endedAt)
          .slice(0, limit),
      record: async (noun, id) => ofNoun(noun, this.#records.get(id)),
      records: async (query) => recordsWhere([...this.#records.values()], query),
      searchRecords: async (query) => searchIn(this.#records.values(), query),
      nextDue: async (noun, projectId) => {
        const due = recordsWhere([...this.#records.values()], { noun, projectId }).flatMap(
          (record) => recordColumns(record).dueAt ?? [],
        );
        return due.length > 0 ? Math.min(...due) : null;
      },
      lastSeq: async () => this.#log.length,
      removedEvents: async () => {
        const seqs = this.#log.flatMap((event, index) => (event === null ? [index + 1] : []));
        return { count: seqs.length, seqs: seqs.reduce((sum, seq) => sum + seq, 0) };
      },
      logSize: async () => {
        const kept = this.#log.filter((event) => event !== null);
        return { events: kept.length, bytes: JSON.stringify(kept).length };
      },
      events: async ({ after = 0, upTo = this.#log.length, newestFirst = false, limit, ...filter }) => {
        const found: LoggedEvent[] = [];
        const seqs = this.#seqs(after, Math.min(upTo, this.#log.length), filter.types);
        for (let step = 0; step < seqs.length && found.length < limit; step += 1) {
          const event = this.#log[seqs[newestFirst ? seqs.length - 1 - step : step]! - 1];
          if (event && matches(event, filter)) found.push(event);
        }
        return found;
      },
      rows: () => this.#rows(),
    };
  }

  /** The numbers of the events after one and up to another, of these types, ascending. */
  #seqs(after: number, upTo: number, types: string[] | undefined): number[] {
    const first = Math.max(after, 0) + 1;
    if (!types) return Array.from({ length: Math.max(0, upTo - first + 1) }, (_, index) => first + index);
    const lists = types.map((type) => {
      const all = this.#seqsByType.get(type) ?? [];
      let from = all.length;
      while (from > 0 && all[from - 1]! >= first) from -= 1;
      return all.slice(from).filter((seq) => seq <= upTo);
    });
    return lists.length === 1 ? lists[0]! : lists.flat().sort((a, b) => a - b);
  }

  async *#rows(): AsyncGenerator<StoredRow> {
    for (const row of this.#projects.values()) yield { noun: 'project', id: row.id, row };
    for (const row of this.#tasks.values()) yield { noun: 'task', id: row.id, row };
    for (const row of this.#runs.values()) yield { noun: 'run', id: row.id, row };
    for (const row of this.#workers.values()) yield { noun: 'worker', id: row.id, row };
    for (const row of this.#evidence.values()) yield { noun: 'evidence', id: row.id, row };
    for (const row of this.#records.values()) yield { noun: 'record', id: row.id, row };
  }
}

function ofNoun<N extends RecordNoun>(noun: N, record: StoredRecord | undefined): RecordOf<N> | null {
  return record?.noun === noun ? (record as RecordOf<N>) : null;
}

function recordsWhere<N extends RecordNoun>(all: StoredRecord[], query: RecordQuery<N>): RecordOf<N>[] {
  const { noun, projectId, parent, isOpen, dueBefore, limit } = query;
  const found = all.filter((record) => {
    const columns = recordColumns(record);
    return (
      record.noun === noun &&
      (projectId === undefined || record.projectId === projectId) &&
      (parent === undefined || columns.parent === parent) &&
      (isOpen === undefined || columns.isOpen === isOpen) &&
      (dueBefore === undefined || (columns.dueAt !== null && columns.dueAt <= dueBefore))
    );
  });
  return found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit) as RecordOf<N>[];
}

function nextNotBefore(tasks: Task[], now: number): number | null {
  const waiting = tasks.filter((task) => isReady(task) && task.notBefore > now).map(({ notBefore }) => notBefore);
  return waiting.length > 0 ? Math.min(...waiting) : null;
}

function matches(event: LoggedEvent, filter: EventFilter): boolean {
  if (filter.projectId !== undefined && event.projectId !== filter.projectId) return false;
  if (filter.taskId !== undefined && subjectIdOf(event.body) !== filter.taskId) return false;
  return filter.types?.includes(event.body.type) ?? true;
}

function workloadOf(tasks: Task[], now: number): Workload {
  const load: Workload = { leased: 0, ready: 0, waiting: 0, conflicts: 0, byStage: {}, nextNotBefore: null };
  for (const task of tasks) {
    load.byStage[task.stage] = (load.byStage[task.stage] ?? 0) + 1;
    if (isOpenConflict(task)) load.conflicts += 1;
    if (task.lease) load.leased += 1;
    if (!isReady(task)) continue;
    if (task.waiting === null) load.ready += 1;
    else load.waiting += 1;
    if (task.notBefore > now) load.nextNotBefore = Math.min(task.notBefore, load.nextNotBefore ?? task.notBefore);
  }
  return load;
}
