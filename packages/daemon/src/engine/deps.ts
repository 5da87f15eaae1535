import type { Project } from '@tidemill/contract';
import type {
  AgentFor,
  Catalogue,
  Clock,
  ConflictEditor,
  Gates,
  Guards,
  Ids,
  OpenRunLog,
  Preparation,
  Prompts,
  Reactors,
  SessionFiles,
  Store,
  Workspace,
} from '../ports.ts';

/** All that the engine knows of the world. The simulator hands in its own. */
export interface EngineDeps {
  project: Project;
  store: Store;
  workspace: Workspace;
  /** Without one, no person resolves conflicts. */
  conflicts?: ConflictEditor;
  agentFor: AgentFor;
  gates: Gates;
  /** Without one, worktrees and checkouts are used as git makes them. */
  preparation?: Preparation;
  guards: Guards;
  prompts: Prompts;
  openRunLog: OpenRunLog;
  /** Without one, only agents and people ask. */
  catalogue?: Catalogue;
  /** None where no other program could look at them. */
  sessions?: SessionFiles;
  /** Runs what follows the log and the clock. */
  reactors: Reactors;
  clock: Clock;
  ids: Ids;
  /** The data folder, in the ids of workers; empty where nobody else uses the store. */
  host: string;
  /** This daemon instance; leases carry it. */
  owner: string;
  hash(text: string): string;
  /** Is the instance that took a lease certainly gone? */
  isOwnerDead(owner: string): boolean;
  /** Builders; one reviewer comes on top. */
  workers: number;
  /** A line for the log: something a person may want to know and nothing was lost. */
  onNote(text: string, error?: unknown): void;
}
