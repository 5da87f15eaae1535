import type { Api, Project } from '@tidemill/contract';
import type { Offline } from '../assembly/offline.ts';
import { type DaemonFile, reachDaemon } from '../assembly/reach.ts';
import { gitWith } from '../git/program.ts';
import { inspectRepository } from '../git/repository.ts';

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

/** The top folder of the repository around `folder`. */
export async function rootOf(folder: string): Promise<string> {
  const { code, stdout } = await gitWith({ cwd: folder })(['rev-parse', '--show-toplevel'], { answers: [128] });
  if (code === 0 && stdout.trim() !== '') return stdout.replace(/\n$/, '');
  return (await inspectRepository(folder)).root;
}

/** The project of the repository one stands in. It is registered when it has a config and was never used. */
export async function projectHere(api: Api, folder: string): Promise<Project> {
  const root = await rootOf(folder);
  const [known] = await api.projects({ root });
  return known ?? api.registerProject({ root });
}
