import type {
  AccessRole,
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
import type { AbsenceOf } from '../config/check.ts';
import type { DataFolder } from '../config/data-folder.ts';
import type { EmergencyOrder, EmergencyReport } from '../engine/workers/fleet.ts';
import type { OutsideWork } from '../engine/workers/outside.ts';
import type { MetricsSource } from '../metrics/metrics.ts';
import type { Clock, ConflictEditor, Ids, Prompts, Reactors, Store, Workspace, WorktreeRef } from '../ports.ts';

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

/** All that handlers work with. Made by the daemon, and by the CLI when no daemon runs. */
export interface Services {
  store: Store;
  clock: Clock;
  ids: Ids;
  folder: DataFolder;
  daemon: DaemonInfo | null;
  /** What follows the log in this daemon; null without one. */
  reactors: Reactors | null;
  /** The tokens that were given out. */
  access: {
    list(): NamedToken[];
    add(name: string, role: AccessRole): NamedToken & { token: string };
    revoke(name: string): { revoked: string };
  };
  hash(text: string): string;
  sandbox(): Promise<SandboxView>;
  /** Lends the repository's workspace for the length of `work`. */
  withWorkspace<T>(project: Project, work: (workspace: LentWorkspace) => Promise<T>): Promise<T>;
  metrics: MetricsSource;
  /** The agent programs known by name, as they are found from a folder. */
  agents(root: string): Promise<AgentView[]>;
  /** Why an agent could not be started, or null. */
  absenceOf: AbsenceOf;
  promptsOf(project: Project): Prompts;
  isRunning(projectId: string): boolean;
  /** Gives work to workers outside the daemon; null while nobody works on the project here. */
  outside(projectId: string): OutsideWork | null;
  /** None of the project's agents can go on before a person has helped (a login, credit). */
  isWaitingForPerson(projectId: string): boolean;
  /** What a person should know about the settings that a running project follows. */
  warnings(projectId: string): string[];
  /** Starts work on a repository in this daemon. */
  attach(root: string, workers: number | undefined): Promise<{ project: Project; warnings: string[] }>;
  /** The channels that a project has configured. */
  channels: {
    views(project: Project): Promise<ChannelView[]>;
    test(project: Project, name: string): Promise<string | null>;
  };
  stop(now: boolean): void;
  /** Kills every agent that runs here, before anything else is looked at. Answers by project. */
  emergencyStop(order: EmergencyOrder): Promise<Map<string, EmergencyReport>>;
  /** Checks that belong to the machine and the store rather than to a project. */
  examine(): Promise<Finding[]>;
}
