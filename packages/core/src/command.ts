import type {
  EventBody,
  FailureClass,
  Feedback,
  LoggedEvent,
  Outcome,
  Question,
  QuestionSource,
  Refusal,
  Task,
} from '@tidemill/contract';
import type { Commands } from './nouns.ts';

/** The right to write about a task: a worker's commands carry the token its claim returned. */
export interface Fence {
  /** A task, or the subject of a job. */
  subjectId: string;
  /** The leased job, if it is a job. */
  jobId?: string;
  token: number;
}

/** How a worker's stage ended. `outcome` is proposed; `decide` turns it into a transition or an alert. */
export interface StageEnd extends Fence {
  outcome: Outcome;
  failure?: FailureClass;
  message?: string;
  feedback?: Feedback[];
  /** When the vendor accepts requests again, if it said so. */
  retryAt?: number;
  /** The tree the stage ended with, so that its evidence is loaded for the next stage. */
  tree?: string;
}

/** Who asks, and about what. */
export interface Asker {
  agent: string;
  source: QuestionSource;
  sourceId: string;
  effect?: Question['effect'];
}

export type CommandType = keyof Commands;
export type CommandOf<T extends CommandType> = T extends unknown ? { projectId: string; type: T } & Commands[T] : never;
/** Commands are imperative. Every change of state starts as one of these. */
export type Command = CommandOf<CommandType>;

/** Core gets time, ids and hashing as arguments. */
export interface DecideEnv {
  now: number;
  newId(prefix: string): string;
  hash(text: string): string;
}

export type Decision = { ok: true; events: EventBody[] } | { ok: false; refusal: Refusal };

/** What the caller of a command gets: its events, and the task after them if the command was about one. */
export type Reply = { ok: true; events: LoggedEvent[]; task: Task | null } | { ok: false; refusal: Refusal };

/** What the caller of an all-or-none list gets: a reply to each command, or the first refusal and no change. */
export type ReplyToAll =
  | { ok: true; replies: Extract<Reply, { ok: true }>[] }
  | { ok: false; refusal: Refusal /** Which command was refused. */; index: number };
