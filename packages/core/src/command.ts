import type {
  AgentEnvelope,
  AnswerSource,
  AskedQuestion,
  Beat,
  BudgetLimits,
  EmergencyOperation,
  EventBody,
  FailureClass,
  Feedback,
  FileResolution,
  HilConfig,
  LoggedEvent,
  MatterContents,
  Mode,
  Notification,
  Outcome,
  ProjectRules,
  Question,
  QuestionSource,
  Receipt,
  Refusal,
  Role,
  Severity,
  SupervisorAction,
  Task,
  TaskEdit,
  TaskKind,
  Usage,
  WorkerWish,
} from '@tidemill/contract';

import type { Deciding } from './gate/deciding/changed-file.ts';

/** The right to write about a task: a worker's commands carry the token its claim returned. */
export interface Fence {
  taskId: string;
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

/** Commands are imperative. Every change of state starts as one of these, whoever asks. */
export type Command = { projectId: string } & (
  | { type: 'project.register'; name: string; root: string; rules: ProjectRules }
  | { type: 'project.configure'; rules: ProjectRules }
  | { type: 'worker.register'; workerId: string; name: string; role: Role; isOutside?: boolean }
  | { type: 'worker.remove'; workerId: string }
  | { type: 'worker.wish'; workerId: string; wish: WorkerWish; by: string }
  | { type: 'worker.beat'; workerId: string; beat: Omit<Beat, 'at'> }
  | { type: 'worker.crash'; workerId: string; error: string; status?: 'crashed' | 'failed' }
  | { type: 'worker.reset'; workerId: string; by: string }
  | {
      type: 'task.create';
      taskId: string;
      title: string;
      body: string;
      kind: TaskKind;
      pipeline?: string;
      accept: string[];
      files: string[];
      dependsOn: string[];
      priority: number;
      hilConfig?: HilConfig;
      repairs?: string[];
    }
  | ({ type: 'task.edit'; taskId: string; by: string } & TaskEdit)
  | { type: 'task.note'; taskId: string; by: string; text: string }
  /** Null lets any worker take it again. */
  | { type: 'task.assign'; taskId: string; workerId: string | null; by: string }
  /** The engine's, at its start: what was in the way may be gone, so it is tried now. */
  | { type: 'task.wake'; taskId: string }
  | { type: 'task.set_dependencies'; taskId: string; dependsOn: string[] }
  /** `from`: only if it still is in the stage that the person saw it in. */
  | { type: 'task.cancel'; taskId: string; by: string; from?: string }
  | { type: 'task.retry'; taskId: string; by: string; note?: string; stage?: string; from?: string }
  | { type: 'task.approve'; taskId: string; by: string; note?: string; from?: string }
  | { type: 'task.reject'; taskId: string; by: string; note: string; from?: string }
  | {
      type: 'work.claim';
      workerId: string;
      role: Role;
      owner: string;
      window: number;
      restingModes?: Mode[];
      /** Who would do the work: a task whose estimate the budget does not cover is not given out. */
      agents?: Partial<Record<Mode, string>>;
    }
  | ({ type: 'lease.renew'; frozenMs?: number } & Fence)
  | ({ type: 'lease.release'; why: string } & Fence)
  /** A person's or the supervisor's: takes the task from whoever holds it, its work kept. */
  | {
      type: 'lease.take';
      taskId: string;
      by: string;
      why: string;
      /** The work was silent for too long. After MAX_STUCK times a person is asked. */
      isStuck?: boolean;
    }
  /** The supervisor's: takes a lease that ran out, or whose owner is known to be dead (`ownerIsDead`). */
  | { type: 'lease.expire'; taskId: string; token: number; ownerIsDead: boolean }
  /** `isFree`: its agent costs nothing, also when it reports nothing. */
  | ({ type: 'run.start'; runId: string; mode: Mode; agent: string; isFree?: boolean } & Fence)
  /** Asked while it runs, through a tool. */
  | ({ type: 'run.ask'; runId: string; questions: AskedQuestion[] } & Fence)
  | ({ type: 'run.progress'; runId: string; percent: number; text: string } & Fence)
  | ({ type: 'run.spend'; runId: string; usage: Usage } & Fence)
  | ({ type: 'run.brief'; runId: string; promptTokens: number; dropped: string[] } & Fence)
  | ({ type: 'run.know_session'; runId: string; session: string } & Fence)
  | ({ type: 'guard.deny'; runId: string; guard: string; tool: string; reason: string } & Fence)
  | ({ type: 'run.send_back'; runId: string; gates: string[] } & Fence)
  | ({
      type: 'run.finish';
      runId: string;
      envelope: AgentEnvelope | null;
      usage: Usage;
      /** Whose run it was, so that it counts in that worker's figures. */
      workerId?: string;
      touches?: MatterContents;
      /** The changed files that a reviewer was shown: its evidence may name them. */
      shownFiles?: readonly string[];
    } & StageEnd)
  /** `touches`: what was proven, where it has to be what a person approved. */
  | ({ type: 'stage.finish'; touches?: MatterContents } & StageEnd)
  /** `isPassing`: it is tried again by itself, and nobody needs to do anything. */
  | ({ type: 'stage.wait'; why: string; untilMs: number; isPassing?: boolean } & Fence)
  /** Files that decide what gates check were changed and nobody reviews them: holds the task until a person agreed. */
  | ({ type: 'stage.hold'; files: Deciding[] } & Fence)
  | ({ type: 'work.commit'; commit: string; tree: string; notes: string[] } & Fence)
  | ({ type: 'evidence.record'; receipts: Receipt[] } & Fence)
  | ({ type: 'merge.prepare'; commit: string; tree: string; base: string } & Fence)
  | ({ type: 'merge.abandon'; why: string } & Fence)
  | ({ type: 'merge.land'; commit: string; workers?: string[] } & Fence)
  | { type: 'snapshot.note'; taskId: string; ref: string; why: string }
  /** A person's: what lies in the worktree is on record, and what becomes of the task is decided here. */
  | { type: 'conflict.resolve_file'; taskId: string; path: string; how: FileResolution; by: string }
  | { type: 'conflict.settle'; taskId: string; commit: string; tree: string; notes: string[]; by: string }
  | { type: 'conflict.abort'; taskId: string; by: string; snapshot: string | null }
  | { type: 'alert.raise'; taskId: string | null; kind: string; text: string; severity?: Severity; subject?: string }
  | { type: 'alert.acknowledge'; alertId: string; by: string }
  | ({ type: 'question.ask'; taskId: string | null; stage: string; questions: readonly AskedQuestion[] } & Asker)
  | {
      type: 'question.answer';
      taskId: string | null;
      questionId: string;
      by: string;
      source: AnswerSource;
      text: string;
    }
  /** Its time is up: the default is taken, or it is dismissed. */
  | { type: 'question.expire'; taskId: string | null; questionId: string }
  | { type: 'question.remind'; taskId: string | null; questionId: string }
  | { type: 'preference.revoke'; preferenceId: string; by: string }
  | { type: 'budget.limit'; accountId: string; limits: BudgetLimits; timeZone: string; by: string }
  | { type: 'notification.queue'; notification: NewNotification }
  | {
      type: 'notification.settle';
      notificationId: string;
      error: string | null;
      reference: string | null;
      nextAt: number | null;
    }
  | { type: 'supervisor.decide'; taskId: string | null; action: SupervisorAction; subject: string; reason: string }
  | {
      type: 'emergency.record';
      operation: EmergencyOperation;
      by: string;
      reason: string;
      workers: string[];
      tasks: number[];
    }
);
export type NewNotification = Pick<
  Notification,
  'id' | 'taskId' | 'channel' | 'severity' | 'title' | 'text' | 'about' | 'group' | 'questionIds' | 'nextAt'
>;
export type CommandType = Command['type'];
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;

/** Time, ids and hashing come in as arguments: core has none of its own. */
export interface DecideEnv {
  now: number;
  newId(prefix: string): string;
  hash(text: string): string;
}

export type Decision = { ok: true; events: EventBody[] } | { ok: false; refusal: Refusal };

/** What the caller of a command gets: the task as it is after the events, where the command was about one. */
export type Reply = { ok: true; events: LoggedEvent[]; task: Task | null } | { ok: false; refusal: Refusal };
