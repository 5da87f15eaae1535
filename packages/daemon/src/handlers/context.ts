import type {
  AccessRole,
  Actor,
  AgentView,
  Caller,
  ChannelView,
  CutText,
  DaemonInfo,
  Finding,
  NamedToken,
  Project,
  SandboxView,
} from '@tidemill/contract';
import type { Calendars } from '@tidemill/core';
import type { AbsenceOf } from '../config/check.ts';
import type { ConfigSaves } from '../config/config-file.ts';
import type { DataFolder } from '../config/data-folder.ts';
import type { EmergencyOrder, EmergencyReport, ProjectWork } from '../engine/project-work.ts';
import type { MetricsSource } from '../metrics/metrics.ts';
import type { Clock, ConflictEditor, Ids, Prompts, Reactors, Store, Workspace, WorktreeRef } from '../ports.ts';
import type { StatusCache } from './project/status-cache.ts';

/** What handlers do with a repository: look, write a snapshot's files beside it, and resolve what a person decides. */
export interface LentWorkspace
  extends ConflictEditor,
    Pick<
      Workspace,
      'candidate' | 'changedFiles' | 'diff' | 'snapshot' | 'snapshots' | 'leaks' | 'isLanded' | 'provenCommits'
    > {
  restoreSnapshot(ref: string, to: string): Promise<string>;
  lookAtWork(task: WorktreeRef, maxBytes: number, signal?: AbortSignal): Promise<CutText | null>;
  lookAtCommit(commit: string, maxBytes: number, signal?: AbortSignal): Promise<CutText | null>;
}

/** About one request: who asks, until when, and whether it may have been sent before. */
export interface Call {
  signal: AbortSignal;
  caller: Caller;
  idempotencyKey?: string;
}

/** Everything that handlers work with. The daemon and the CLI without a daemon make it in the same place. */
export interface Services {
  store: Store;
  clock: Clock;
  ids: Ids;
  engines: Engines;
  repositories: Repositories;
  people: People;
  machine: Machine;
}

/** Who works on the projects in this process. */
export interface Engines {
  /** The engine of a project, or an absent one that refuses what only an engine can do. */
  of(project: Project): ProjectWork;
  /** Starts work on a repository in this daemon. */
  attach(root: string, workers: number | undefined): Promise<{ project: Project; warnings: string[] }>;
  /** Kills every agent that runs here before anything else. Then it stops the workers of all projects. */
  emergencyStop(order: EmergencyOrder): Promise<EmergencyReport[]>;
}

/** The projects' repositories, and what is read from them. */
export interface Repositories {
  /** Lends the repository's workspace for the length of `work`. */
  withWorkspace<T>(project: Project, work: (workspace: LentWorkspace) => Promise<T>): Promise<T>;
  promptsOf(project: Project): Prompts;
  configSaves: ConfigSaves;
}

/** How people get in, and how they are reached. */
export interface People {
  /** The tokens that were given out. */
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
  /** Null without a daemon. */
  daemon: DaemonInfo | null;
  /** What follows the log in this daemon; null without one. */
  reactors: Reactors | null;
  metrics: MetricsSource;
  statusCache: StatusCache;
  calendars: Calendars;
  sandbox(): Promise<SandboxView>;
  /** The agent programs known by name, as they are found from a folder. */
  agents(root: string): Promise<AgentView[]>;
  /** Why an agent could not be started, or null. */
  absenceOf: AbsenceOf;
  /** Checks that belong to the machine and the store rather than to a project. */
  examine(): Promise<Finding[]>;
  stop(now: boolean): void;
}
