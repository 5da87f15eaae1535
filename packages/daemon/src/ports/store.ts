import type {
  EndedRun,
  Evidence,
  LoggedEvent,
  Project,
  RecordNoun,
  RecordOf,
  Run,
  StoredRecord,
  Task,
  TaskSpan,
  Worker,
} from '@tidemill/contract';
import type { Command, Reply, ReplyToAll } from '@tidemill/core';

export interface EventFilter {
  projectId?: string;
  taskId?: string;
  types?: string[];
}

/** The remaining work of a project. */
export interface Workload {
  leased: number;
  /** Claimable now or after a backoff, without tasks that wait for a person. */
  ready: number;
  /** Claimable, but waiting for something that only a person can change (`task.waiting`). */
  waiting: number;
  /** Blocked by a merge conflict that a person has to settle. */
  conflicts: number;
  byStage: Record<string, number>;
  /** The earliest future end of a backoff of a claimable task. */
  nextNotBefore: number | null;
}

interface RowTypes {
  project: Project;
  task: Task;
  run: Run;
  worker: Worker;
  evidence: Evidence;
  record: StoredRecord;
}
export type RowNoun = keyof RowTypes;
/** A row of the projection, of any noun. An unreadable row is null, with the reason. */
export type StoredRow = {
  [N in RowNoun]: { noun: N; id: string } & ({ row: RowTypes[N] } | { row: null; why: string });
}[RowNoun];

/** A row that differed from the log. Its old content is kept in the table `set_aside`. */
export interface RepairedRow {
  noun: RowNoun;
  id: string;
  /** The difference. */
  why: string;
  /** False when the log has no record of it. Then the row was removed. */
  isRebuilt: boolean;
}

/** How many events were removed, and the sum of their numbers. */
export interface RemovedEvents {
  count: number;
  seqs: number;
}

/** All conditions must match. An empty list matches no task. */
export interface TaskQuery {
  projectId: string;
  stages?: string[];
  ids?: string[];
  numbers?: number[];
  /** Tasks that depend on one of these. */
  waitingFor?: string[];
  /** Tasks that depend on a cancelled task. */
  isStranded?: true;
  /** Claimable, but waiting for something that only a person can change. */
  isWaiting?: true;
  /** Every word must be in the title, ignoring case, or be the number (`12`, `#12`). */
  search?: string;
  newestFirst?: boolean;
  /** Tasks above this number, or below it with `newestFirst`. 0: no bound. */
  afterNumber?: number;
  limit?: number;
}

export interface RecordQuery<N extends RecordNoun> {
  noun: N;
  projectId?: string;
  /** What the records belong to: a task, a subject. */
  parent?: string;
  isOpen?: boolean;
  /** Only records that are due by then, the earliest first. Without it, records are ordered by id. */
  dueBefore?: number;
  limit?: number;
}

export interface RecordSearch<N extends RecordNoun> {
  /** A noun that declares its text (`recordKind`). */
  noun: N;
  projectId?: string;
  /** Records with one of these words, those with most of them first. Without words: the newest first. */
  words?: string;
  /** A record must have all of them. */
  tags?: readonly string[];
  /** Without words: only records that were created before the one at this place. */
  before?: number;
  limit: number;
}

export interface FoundRecord<N extends RecordNoun> {
  record: RecordOf<N>;
  /** Grows with each new record. */
  place: number;
  /** How much of the words it has, from 0 to 1; rare words count more. 1 without words. */
  score: number;
}

/**
 * The only access to state. `execute` loads the command's scope, decides, appends the events and saves the rows in one
 * durable transaction. Concurrent calls share it (group commit). Reads see only committed state.
 */
export interface Store {
  execute(command: Command): Promise<Reply>;
  /**
   * Executes several commands in one transaction. Each sees the effects of the previous ones. If one is refused, none
   * takes effect.
   */
  executeAll(commands: readonly Command[]): Promise<ReplyToAll>;

  projects(): Promise<Project[]>;
  project(id: string): Promise<Project | null>;
  projectByRoot(root: string): Promise<Project | null>;
  task(id: string): Promise<Task | null>;
  taskByNumber(projectId: string, number: number): Promise<Task | null>;
  /** Ascending by number, or descending with `newestFirst`. */
  tasks(query: TaskQuery): Promise<Task[]>;
  /** Only their numbers, by id. Unknown ids are left out. */
  taskNumbers(ids: string[]): Promise<Map<string, number>>;
  /** A cheap form of `tasks`: only creation time, stage and the time of the last move. */
  taskSpans(query: { projectId: string; afterNumber: number; limit: number }): Promise<TaskSpan[]>;
  leased(projectId: string): Promise<Task[]>;
  /** Counts every task, so it is too slow for a loop. */
  workload(projectId: string): Promise<Workload>;
  /** `workload().nextNotBefore` alone, at a cost that does not grow with the number of tasks. */
  nextNotBefore(projectId: string): Promise<number | null>;
  workers(projectId: string): Promise<Worker[]>;
  run(id: string): Promise<Run | null>;
  runs(taskId: string): Promise<Run[]>;
  /** Runs that ended after `after`, by their end. */
  runsEnded(query: { projectId: string; after: number; limit?: number }): Promise<EndedRun[]>;
  record<N extends RecordNoun>(noun: N, id: string): Promise<RecordOf<N> | null>;
  records<N extends RecordNoun>(query: RecordQuery<N>): Promise<RecordOf<N>[]>;
  /** Finds records by their text. A common word may hide old records that have no rarer one. */
  searchRecords<N extends RecordNoun>(query: RecordSearch<N>): Promise<FoundRecord<N>[]>;
  /** When the next record of the noun is due. */
  nextDue(noun: RecordNoun, projectId?: string): Promise<number | null>;
  /** Ascending by position. */
  evidence(query: { projectId: string; afterPosition?: number; limit?: number; taskId?: string }): Promise<Evidence[]>;
  evidenceForTree(projectId: string, tree: string): Promise<Evidence[]>;
  evidenceByHash(hash: string): Promise<Evidence | null>;
  evidenceById(id: string): Promise<Evidence | null>;

  /** All rows, read in pages. `doctor` compares them with the log. */
  rows(): AsyncIterable<StoredRow>;
  /** Rebuilds every row that is unreadable or differs from the log. The log itself is never changed. */
  repair(): Promise<RepairedRow[]>;

  lastSeq(): Promise<number>;
  /** Events after `after` up to `upTo`, the oldest or the newest first. */
  events(
    query: EventFilter & { after?: number; upTo?: number; newestFirst?: boolean; limit: number },
  ): Promise<LoggedEvent[]>;
  /** Every event after the cursor, in order, none skipped or repeated, until the signal aborts. */
  subscribe(after: number, filter: EventFilter, signal: AbortSignal): AsyncIterable<LoggedEvent>;
  /**
   * Removes these events for good. Only for events that later ones superseded: see core's `SupersededEvents`. The newest
   * event always stays, so that no number is used twice. Returns how many were removed.
   */
  removeEvents(seqs: readonly number[]): Promise<number>;
  /** All events that were ever removed. A gap in the log must be one of them. */
  removedEvents(): Promise<RemovedEvents>;
  /** The number of events, and about how much space they take. */
  logSize(): Promise<{ events: number; bytes: number }>;
  /**
   * Called after each commit that this process knows of. It is a wake-up without the events. `isQuiet`: the commit had
   * only heartbeats. Returns the unsubscribe function.
   */
  onCommit(listener: (isQuiet: boolean) => void): () => void;
  close(): Promise<void>;
}
