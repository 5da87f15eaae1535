import type { Api, Project } from '@tidemill/contract';
import type { Offline } from '../assembly/offline.ts';
import { type DaemonFile, reachDaemon } from '../assembly/reach.ts';
import { rootOf } from '../git/repository.ts';

export interface Connection {
  api: Api;
  /** The running daemon that answers; null when the store was opened here. */
  daemon: DaemonFile | null;
  /** Makes the store whole again; only while no daemon works with it. */
  repair: Offline['repair'] | null;
  close(): Promise<void>;
}

/** The running daemon, or the store itself: a command works either way. */
export async function connect(env: NodeJS.ProcessEnv): Promise<Connection> {
  const found = await reachDaemon(env);
  if (found) return { ...found, repair: null, close: async () => undefined };
  // Loaded here: most commands find a daemon and need none of it.
  const { openOffline } = await import('../assembly/offline.ts');
  const offline = await openOffline(env);
  return { api: offline.api, daemon: null, repair: offline.repair, close: () => offline.close() };
}

/** The project of the repository one stands in. It is registered when it has a config and was never used. */
export async function projectHere(api: Api, folder: string): Promise<Project> {
  const root = await rootOf(folder);
  const [known] = await api.projects({ root });
  return known ?? api.registerProject({ root });
}
