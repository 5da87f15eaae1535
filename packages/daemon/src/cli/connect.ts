import type { Api, DaemonFile, Project } from '@tidemill/contract';
import type { Offline } from '../assembly/offline.ts';
import { reachDaemon } from '../assembly/reach.ts';
import { apiForAgent, personDecides } from '../handlers/role.ts';
import { agentOfRun } from '../process/environment.ts';

export interface Connection {
  api: Api;
  /** The running daemon; null when the store was opened here. */
  daemon: DaemonFile | null;
  /** Repairs the store; null while a daemon uses it. */
  repair: Offline['repair'] | null;
  close(): Promise<void>;
}

/**
 * Connects to the running daemon; without one, opens the store directly. In a run of an agent, or for an agent that is named,
 * the connection decides nothing.
 */
export async function connect(env: NodeJS.ProcessEnv, named: string | null = null): Promise<Connection> {
  const agent = named ?? agentOfRun(env);
  if (agent === null) return open(env, null);
  const { api, ...rest } = await open(env, agent);
  return { ...rest, api: apiForAgent(api), repair: rest.repair && refuseRepair };
}

async function refuseRepair(): Promise<never> {
  throw personDecides('tidemill doctor --repair');
}

async function open(env: NodeJS.ProcessEnv, agent: string | null): Promise<Connection> {
  const found = await reachDaemon(env, agent);
  if (found) return { ...found, repair: null, close: async () => undefined };
  // Loaded here because most commands find a daemon and do not need it.
  const { openOffline } = await import('../assembly/offline.ts');
  const offline = await openOffline(env, agent);
  return { api: offline.api, daemon: null, repair: offline.repair, close: () => offline.close() };
}

/** The project of a repository, named by its top folder. Registers it on first use if it has a config. */
export async function projectAt(api: Api, root: string): Promise<Project> {
  const [known] = await api.projects({ root });
  return known ?? api.registerProject({ root });
}
