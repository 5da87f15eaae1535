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
  /** What is worked on: a task, or the subject of a job. */
  subjectId: string;
  /** The job that is leased, where it is not the task itself. */
  jobId?: string;
  token: number;
}

/** What a worker's stage ended in. `outcome` is proposed; `decide` turns it into a transition or an alert. */
export interface StageEnd extends Fence {
  outcome: Outcome;
  failure?: FailureClass;
  message?: string;
  feedback?: Feedback[];
  /** From when on the vendor would answer again, if it said so. */
  retryAt?: number;
  /** The tree the stage ended with, so that its evidence is at hand when the next stage asks for it. */
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

/** Time, ids and hashing come in as arguments: core has none of its own. */
export interface DecideEnv {
  now: number;
  newId(prefix: string): string;
  hash(text: string): string;
}

export type Decision = { ok: true; events: EventBody[] } | { ok: false; refusal: Refusal };

/** What the caller of a command gets: the task as it is after the events, where the command was about one. */
export type Reply = { ok: true; events: LoggedEvent[]; task: Task | null } | { ok: false; refusal: Refusal };

/** What the caller of several commands gets that hold together: a reply to each, or the first refusal and no change. */
export type ReplyToAll =
  | { ok: true; replies: Extract<Reply, { ok: true }>[] }
  | { ok: false; refusal: Refusal /** Which command was refused. */; index: number };
