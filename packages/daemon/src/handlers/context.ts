import type { DaemonInfo, Finding, Project, SandboxView } from '@tidemill/contract';
import type { DataFolder } from '../config/data-folder.ts';
import type { Clock, Ids, Store, Workspace } from '../ports.ts';

/** All that handlers work with. Made by the daemon, and by the CLI when no daemon runs. */
export interface Services {
  store: Store;
  clock: Clock;
  ids: Ids;
  folder: DataFolder;
  daemon: DaemonInfo | null;
  hash(text: string): string;
  sandbox(): Promise<SandboxView>;
  workspace(project: Project): Promise<Workspace>;
  isRunning(projectId: string): boolean;
  /** Starts work on a repository in this daemon. */
  attach(root: string, workers: number | undefined): Promise<{ project: Project; warnings: string[] }>;
  stop(now: boolean): void;
  /** Checks that belong to the machine and the store rather than to a project. */
  examine(): Promise<Finding[]>;
}
