import type {
  AccessRole,
  Actor,
  AgentView,
  Caller,
  ChangedFileView,
  ChannelView,
  Config,
  CutText,
  DaemonInfo,
  Finding,
  NamedToken,
  Project,
  SandboxView,
  TaskFile,
} from '@tidemill/contract';
import type { Calendars } from '@tidemill/core';
import type { AbsenceOf } from '../config/check.ts';
import type { ConfigSaves } from '../config/config-file.ts';
import type { DataFolder } from '../config/data-folder.ts';
import type { GuardTools } from '../engine/learning/guard-flow.ts';
import type { EmergencyOrder, EmergencyReport, ProjectWork } from '../engine/project-work.ts';
import type { MetricsSource } from '../metrics/metrics.ts';
import type {
  CheckedPrompts,
  Clock,
  ConflictEditor,
  FileCommit,
  Ids,
  Improvements,
  Knowledge,
  OutputFiles,
  PromptFiles,
  Reactors,
  Store,
  Workspace,
  WorktreeRef,
} from '../ports.ts';
import type { StatusCache } from './project/status-cache.ts';

/**
 * The part of the workspace that handlers use: read, restore snapshots into another folder, resolve conflicts, and commit
 * the settings.
 */
export interface LentWorkspace
  extends ConflictEditor,
    Pick<
      Workspace,
      | 'candidate'
      | 'changedFiles'
      | 'commitNamed'
      | 'commitsBetween'
      | 'diff'
      | 'filesAt'
      | 'filesIn'
      | 'mergeLosses'
      | 'snapshot'
      | 'snapshots'
      | 'tagBefore'
      | 'targetCommit'
      | 'dropSnapshots'
      | 'leaks'
      | 'isLanded'
      | 'parentOf'
      | 'provenCommits'
      | 'treeOf'
    > {
  restoreSnapshot(ref: string, to: string): Promise<string>;
  commitFile(file: string, text: string, message: string): Promise<FileCommit>;
  lookAtWork(task: WorktreeRef, maxBytes: number, signal?: AbortSignal): Promise<CutText | null>;
  lookAtCommit(commit: string, maxBytes: number, signal?: AbortSignal): Promise<CutText | null>;
  /** The files of a task's change: of the commit if there is one, else of its worktree or branch. */
  filesOfChange(task: WorktreeRef, commit: string | null): Promise<ChangedFileView[] | null>;
  /** One of them, before and after. */
  fileOfChange(task: WorktreeRef, commit: string | null, path: string, maxBytes: number): Promise<TaskFile | null>;
}

/** One request: its caller, its deadline, and its idempotency key. */
export interface Call {
  signal: AbortSignal;
  caller: Caller;
  idempotencyKey?: string;
}

/** Everything that handlers use, with or without a daemon. */
export interface Services {
  store: Store;
  clock: Clock;
  ids: Ids;
  engines: Engines;
  repositories: Repositories;
  people: People;
  machine: Machine;
}

/** The engines of this process. */
export interface Engines {
  /** The engine of a project, or an absent one that refuses what needs an engine. */
  of(project: Project): ProjectWork;
  /** Starts work on a repository in this daemon. `takeOver`: also if another data folder works on it. */
  attach(root: string, workers?: number, takeOver?: boolean): Promise<{ project: Project; warnings: string[] }>;
  /** First kills every agent of this process, then stops the workers of all projects. */
  emergencyStop(order: EmergencyOrder): Promise<EmergencyReport[]>;
}

/** Access to the projects' repositories. */
export interface Repositories {
  /** Provides the repository's workspace while `work` runs. */
  withWorkspace<T>(project: Project, work: (workspace: LentWorkspace) => Promise<T>): Promise<T>;
  promptsOf(project: Project): CheckedPrompts;
  promptFilesOf(project: Project): PromptFiles;
  knowledgeOf(project: Project): Knowledge;
  improvementsOf(project: Project): Improvements;
  guardToolsOf(project: Project): Promise<Pick<GuardTools, 'guards' | 'calls' | 'sessions'>>;
  configSaves: ConfigSaves;
}

/** Access tokens and channels. */
export interface People {
  /** The access tokens. */
  access: {
    list(): Promise<NamedToken[]>;
    add(name: string, role: AccessRole, by: Actor): Promise<NamedToken & { token: string }>;
    revoke(name: string, by: Actor): Promise<{ revoked: string }>;
  };
  /** The channels that a project has configured. */
  channels: {
    views(project: Project): Promise<ChannelView[]>;
    test(project: Project, name: string): Promise<string | null>;
  };
}

/** This process, its data folder and the programs on this machine. */
export interface Machine {
  folder: DataFolder;
  /** The output of runs and gates. */
  outputs: OutputFiles;
  /** Null without a daemon. */
  daemon: DaemonInfo | null;
  /** The reactors of this daemon; null without one. */
  reactors: Reactors | null;
  metrics: MetricsSource;
  statusCache: StatusCache;
  calendars: Calendars;
  sandbox(): Promise<SandboxView>;
  /** The known agent programs, as found from a folder. */
  agents(root: string): Promise<AgentView[]>;
  /** Returns why an agent cannot be started, or null. */
  absenceOf: AbsenceOf;
  /** Mistakes in the surroundings of a project that its config does not show. */
  setupWarnings(project: Project): Promise<string[]>;
  /** What webhooks of GitHub are signed with. Null: none is accepted. */
  hookSecret(project: Project): Promise<string | null>;
  /** Asks GitHub once whether the settings work. Empty where GitHub is not used. */
  examineGithub(project: Project, config: Config): Promise<Finding[]>;
  /** Checks that belong to the machine and the store rather than to a project. */
  examine(): Promise<Finding[]>;
  stop(now: boolean): void;
}
