import type { ConflictSummary, InboxItem, MetricsView, Project, ProjectStatus, TaskSummary } from '@tidemill/contract';

/**
 *   looking ─▶ no_daemon | no_project | other_version | ready
 *   no_repository: the workspace has none, so nothing is looked for.
 *   other_version: a daemon runs whose answers this extension cannot read.
 */
export type LinkState = 'looking' | 'no_repository' | 'no_daemon' | 'no_project' | 'other_version' | 'ready';

/** A line of the activity, in words. */
export interface ActivityLine {
  seq: number;
  at: number;
  who: string;
  text: string;
  type: string;
  /** The task that it is about, and its name as soon as it is known. */
  taskId: string | null;
  task: { number: number; title: string } | null;
}

/** What this window knows about the project. Parts that no view wants are not read. */
export interface Seen {
  state: LinkState;
  /** False while the stream is down and changes are asked for every few seconds. */
  isLive: boolean;
  /** Something that the daemon said could not be read: it has another version. What is shown may be old or missing. */
  isUnreadable: boolean;
  version: string;
  /** When the daemon started: another one has another time. */
  startedAt: number;
  project: Project | null;
  status: ProjectStatus | null;
  /** When `status` came, by this machine's clock: elapsed times count on from here. */
  statusAt: number;
  /** Unfinished tasks by number, and the newest finished ones. */
  tasks: TaskSummary[];
  inbox: InboxItem[];
  conflicts: ConflictSummary[];
  /** Newest first, at most 50. */
  activity: ActivityLine[];
  metrics: MetricsView | null;
  /** The figures could not be read: `metrics` are the last known. */
  isMetricsOld: boolean;
}

export const SEEN_NOTHING: Seen = {
  state: 'looking',
  isLive: false,
  isUnreadable: false,
  version: '',
  startedAt: 0,
  project: null,
  status: null,
  statusAt: 0,
  tasks: [],
  inbox: [],
  conflicts: [],
  activity: [],
  metrics: null,
  isMetricsOld: false,
};

/** What can change and be asked for separately. `state` and `status` always come. */
export type SeenPart = 'state' | 'status' | 'tasks' | 'inbox' | 'conflicts' | 'activity' | 'metrics';
