import { createHash } from 'node:crypto';
import type { Api, Project } from '@tidemill/contract';
import { TokenBook } from '../access/token-book.ts';
import { absenceOf } from '../agents/presence.ts';
import { assetDir } from '../assets.ts';
import { type DataFolder, openDataFolder } from '../config/data-folder.ts';
import { loadSettings } from '../config/load.ts';
import { ReactorHost } from '../engine/reactors/host.ts';
import type { LentWorkspace } from '../handlers/context.ts';
import { createLocalApi } from '../handlers/index.ts';
import { refuseWithoutDaemon } from '../handlers/project/project.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { Clock, RepairedRow } from '../ports.ts';
import { sandboxStatus } from '../process/sandbox.ts';
import { createPrompts } from '../prompts/prompts.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { ProjectChannels } from './project-channels.ts';
import { openFolderStore } from './store-address.ts';

export interface Offline {
  api: Api;
  /** See `Store.repair`. */
  repair(): Promise<RepairedRow[]>;
  close(): Promise<void>;
}

/** The handlers over the store itself, for commands while no daemon runs. */
export async function openOffline(env: NodeJS.ProcessEnv): Promise<Offline> {
  const folder = openDataFolder(env);
  const opened = await openFolderStore(folder, env);
  const { store, clock, ids } = opened;
  const api = createLocalApi({
    store,
    clock,
    ids,
    folder,
    daemon: null,
    reactors: null,
    access: new TokenBook(folder.tokenFile, clock),
    hash: sha256,
    sandbox: sandboxView,
    withWorkspace: (project, work) => borrowWorkspace(project, folder, clock, work),
    metrics: new Metrics(store, clock, () => undefined),
    agents: async (root) => (await import('../agents/discover.ts')).discoverAgents(root),
    absenceOf,
    promptsOf,
    isRunning: () => false,
    outside: () => null,
    isWaitingForPerson: () => false,
    warnings: () => [],
    attach: async () => refuseWithoutDaemon('attach to'),
    channels: new ProjectChannels({
      ...{ store, clock, env, apiUrl: '', dataDir: folder.path, homeId: folder.id },
      // Nothing is added to it: without a daemon no project is followed.
      reactors: new ReactorHost({ store, clock, onNote: () => undefined }),
      onNote: () => undefined,
    }),
    stop: () => refuseWithoutDaemon('stop'),
    emergencyStop: async () => new Map(),
    examine: async () => {
      const { examineMachine } = await import('./examine.ts');
      return examineMachine({
        store,
        storeName: opened.name,
        folderId: folder.id,
        dataFolder: folder.path,
        daemonPid: null,
      });
    },
  });
  return { api, repair: () => store.repair(), close: () => store.close() };
}

/** The workspace of a project that no engine of this process works on: opened for a moment. */
export async function borrowWorkspace<T>(
  { id, root, rules }: Project,
  folder: DataFolder,
  clock: Clock,
  work: (workspace: LentWorkspace) => Promise<T>,
): Promise<T> {
  const { landing, push } = (await loadSettings(root)).config;
  const workspace = await openWorkspace({
    root,
    target: rules.target,
    landing,
    push,
    dataDir: folder.project(id),
    clock,
  });
  try {
    return await work(workspace);
  } finally {
    await workspace.close();
  }
}

export const promptsOf = ({ root }: Project) => createPrompts({ root, builtinDir: assetDir('prompts/agents') });

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

export async function sandboxView() {
  const { available, why } = await sandboxStatus();
  return { active: available, text: why };
}
