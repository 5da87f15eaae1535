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

/** How far a project is from having nothing left that a machine could do. */
export interface Workload {
  leased: number;
  /** Claimable now or after a backoff, tasks that wait for a person left out. */
  ready: number;
  /** Claimable, but held up by something only a person can change (`task.waiting`). */
  waiting: number;
  /** Blocked by a merge conflict that a person has to settle. */
  conflicts: number;
  byStage: Record<string, number>;
  /** The earliest moment a claimable task comes out of its backoff, if it is in the future. */
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
/** A row of the projection, of whatever noun; without a row, but with the reason, when it cannot be read. */
export type StoredRow = {
  [N in RowNoun]: { noun: N; id: string } & ({ row: RowTypes[N] } | { row: null; why: string });
}[RowNoun];

/** A row that was not what the log says. What was there is kept in the table `set_aside`. */
export interface RepairedRow {
  noun: RowNoun;
  id: string;
  /** What was wrong with it. */
  why: string;
  /** False when the log knows nothing of it: then it is gone from its table. */
  isRebuilt: boolean;
}

/** Tasks for which all of this is true. An empty list fits none. */
export interface TaskQuery {
  projectId: string;
  stages?: string[];
  ids?: string[];
  numbers?: number[];
  /** Those that depend on one of these. */
  waitingFor?: string[];
  /** Those that depend on a cancelled task. */
  isStranded?: true;
  /** Claimable, but held up by something only a person can change. */
  isWaiting?: true;
  /** Every word must be in the title, whatever its letters' case, or name the number (`12`, `#12`). */
  search?: string;
  newestFirst?: boolean;
  /** Above this number; below it when the newest come first. 0 is no bound. */
  afterNumber?: number;
  limit?: number;
}

export interface RecordQuery<N extends RecordNoun> {
  noun: N;
  projectId?: string;
  taskId?: string;
  isOpen?: boolean;
  /** Only those somebody has to look at by then, the most pressing first. Else they come in the order of their ids. */
  dueBefore?: number;
  limit?: number;
}

/**
 * The one door to state. `execute` loads the command's scope, decides, appends the events and saves the rows in one
 * durable transaction; calls of the same moment share it (group commit). Reads see only committed state.
 */
export interface Store {
  execute(command: Command): Promise<Reply>;
  /**
   * Several commands in one transaction: each is decided on what the ones before it left. When one is refused, none of
   * them has happened.
   */
  executeAll(commands: readonly Command[]): Promise<ReplyToAll>;

  projects(): Promise<Project[]>;
  project(id: string): Promise<Project | null>;
  projectByRoot(root: string): Promise<Project | null>;
  task(id: string): Promise<Task | null>;
  taskByNumber(projectId: string, number: number): Promise<Task | null>;
  /** Ascending by number, unless the newest are wanted first. */
  tasks(query: TaskQuery): Promise<Task[]>;
  /** Their numbers alone, by id; what does not exist is left out. */
  taskNumbers(ids: string[]): Promise<Map<string, number>>;
  /** The same tasks at a fraction of the cost: of every task only when it came and where it is since when. */
  taskSpans(query: { projectId: string; afterNumber: number; limit: number }): Promise<TaskSpan[]>;
  leased(projectId: string): Promise<Task[]>;
  /** Counts every task: for people and for the question whether all is done, not for every turn of a loop. */
  workload(projectId: string): Promise<Workload>;
  /** `workload().nextNotBefore` alone, at a cost that does not grow with the number of tasks. */
  nextNotBefore(projectId: string): Promise<number | null>;
  workers(projectId: string): Promise<Worker[]>;
  run(id: string): Promise<Run | null>;
  runs(taskId: string): Promise<Run[]>;
  /** By their end, which lies after `after`. */
  runsEnded(query: { projectId: string; after: number; limit?: number }): Promise<EndedRun[]>;
  record<N extends RecordNoun>(noun: N, id: string): Promise<RecordOf<N> | null>;
  records<N extends RecordNoun>(query: RecordQuery<N>): Promise<RecordOf<N>[]>;
  /** When the first record of the noun is due. */
  nextDue(noun: RecordNoun, projectId?: string): Promise<number | null>;
  /** Ascending by position. */
  evidence(query: { projectId: string; afterPosition?: number; limit?: number; taskId?: string }): Promise<Evidence[]>;
  evidenceForTree(projectId: string, tree: string): Promise<Evidence[]>;
  evidenceByHash(hash: string): Promise<Evidence | null>;
  evidenceById(id: string): Promise<Evidence | null>;

  /** Every row there is, read in pages: for `doctor`, which compares them with the log. */
  rows(): AsyncIterable<StoredRow>;
  /** Makes every row anew that cannot be read or is not what the log says. The log itself is never changed. */
  repair(): Promise<RepairedRow[]>;

  lastSeq(): Promise<number>;
  /** Events after `after` and not beyond `upTo`: the oldest first, or the newest. */
  events(
    query: EventFilter & { after?: number; upTo?: number; newestFirst?: boolean; limit: number },
  ): Promise<LoggedEvent[]>;
  /** Every event after the cursor, in order, none skipped or repeated, until the signal aborts. */
  subscribe(after: number, filter: EventFilter, signal: AbortSignal): AsyncIterable<LoggedEvent>;
  /**
   * Called after each commit that this process knows of; a wake-up, not a delivery. `isQuiet` when it held nothing but
   * signs of life. Returns the unsubscriber.
   */
  onCommit(listener: (isQuiet: boolean) => void): () => void;
  close(): Promise<void>;
}
