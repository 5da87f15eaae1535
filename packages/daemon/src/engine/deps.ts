import type { Project, PullRequestConfig, PushSetting, TrackerTrust, WorkflowSetting } from '@tidemill/contract';
import type {
  AgentFor,
  CallLog,
  Catalogue,
  Clock,
  ConflictEditor,
  Deliverer,
  Forge,
  Gates,
  Guards,
  HookRefusals,
  Ideation,
  Ids,
  Improvements,
  Knowledge,
  LearnedGuards,
  OpenRunLog,
  OwnSessions,
  Preparation,
  PromptFiles,
  Prompts,
  Reactors,
  RunAccess,
  SessionFiles,
  Store,
  Tracker,
  TripwireFile,
  Workspace,
} from '../ports.ts';

/** A tracker and what the project wants of it. */
export interface FollowedTracker {
  tracker: Tracker;
  trust: TrackerTrust;
  pollMs: number;
  /** Whether accepted proposals become items. */
  offersProposals: boolean;
  /** Whether the item of a landed task is closed. */
  closes: boolean;
}

/** What keeps tasks from starting. */
export interface StartRules {
  /** Why nothing would show that a change works; null if a gate does. */
  untested: string | null;
  /** A person said that there are no tests. */
  isTestless: boolean;
  /** How many results may wait for a person; null: two for each builder. */
  waiting: number | null;
}

/** Everything the engine depends on. The simulator passes its own implementations. */
export interface EngineDeps {
  project: Project;
  store: Store;
  workspace: Workspace;
  /** Without one, no person resolves conflicts. */
  conflicts?: ConflictEditor;
  /** Present if tasks land by pull requests. */
  pullRequests?: { forge: Forge; settings: PullRequestConfig };
  agentFor: AgentFor;
  gates: Gates;
  /** Without one, nothing is delivered. */
  deliverer?: Deliverer;
  /** Without one, worktrees and checkouts are used as git makes them. */
  preparation?: Preparation;
  /** Without it, nobody checks whether gates still notice faults. */
  tripwires?: TripwireFile;
  guards: Guards;
  /** Without it, no guards are proposed. */
  learnedGuards?: LearnedGuards;
  /** Without one, calls of agents are not kept. */
  calls?: CallLog;
  prompts: Prompts;
  /** Without them, no proposed prompt is applied or rolled back. */
  promptFiles?: PromptFiles;
  openRunLog: OpenRunLog;
  /** Without them, Tidemill proposes nothing by itself. */
  improvements?: Improvements;
  /** Without one, only agents and people ask. */
  catalogue?: Catalogue;
  /** Without it, ideas have no phase prompts, files and searches. */
  ideation?: Ideation;
  /** Without one, nothing is known about the repository. */
  knowledge?: Knowledge;
  /** Absent where no person's own sessions use hooks. */
  ownSessions?: OwnSessions;
  /** Absent where no person has sessions of their own. */
  hookRefusals?: HookRefusals;
  /** Without it, agents cannot use the MCP server. */
  runAccess?: RunAccess;
  /** Where tasks come from besides people. Changes with the settings; null without one. */
  tracker?: FollowedTracker | null;
  /** Absent where no other program reads session files. */
  sessions?: SessionFiles;
  /** Runs the reactors, which follow the log and the clock. */
  reactors: Reactors;
  clock: Clock;
  ids: Ids;
  /** The data folder, as part of worker ids. Empty when no other daemon uses the store. */
  host: string;
  /** This daemon instance; leases carry it. */
  owner: string;
  hash(text: string): string;
  /** Whether the instance that took a lease is certainly dead. */
  isOwnerDead(owner: string): boolean;
  /** The number of builders, without the reviewer. */
  workers: number;
  /** How many waiting tasks land together, at most. */
  batch: number;
  /** Proves the tree of each of them, not only the one of all together. */
  provesEach?: boolean;
  /** What has to be known before a task starts. Absent: tasks start at once. */
  starts?: StartRules;
  push: PushSetting;
  /** Absent: nothing that is pushed is run by GitHub. */
  workflows?: WorkflowSetting | undefined;
  /** Writes a line to the log. For information only: nothing was lost. */
  onNote(text: string, error?: unknown): void;
}
