import type { Api } from '@tidemill/contract';
import { StoredTokens } from '../access/tokens.ts';
import { openDataFolder } from '../config/data-folder.ts';
import { createLocalApi, OWNER } from '../handlers/index.ts';
import { refuseWithoutDaemon } from '../handlers/project/project.ts';
import type { RepairedRow } from '../ports.ts';
import { AbsentEngines } from './engines.ts';
import { createServices, createShared } from './handler-context.ts';
import { openFolderStore } from './store-address.ts';

export interface Offline {
  api: Api;
  /** See `Store.repair`. */
  repair(): Promise<RepairedRow[]>;
  close(): Promise<void>;
}

/** The handlers over the store itself, for commands while no daemon runs. */
export async function openOffline(env: NodeJS.ProcessEnv, agent: string | null = null): Promise<Offline> {
  const folder = openDataFolder(env);
  const opened = await openFolderStore(folder, env);
  const { store, clock } = opened;
  const parts = { opened, folder, env, info: null, onNote: () => undefined };
  const services = createServices(parts, createShared(parts), {
    engines: new AbsentEngines(opened, folder),
    access: await StoredTokens.open(folder.tokenFile, { store, clock, onNote: () => undefined }),
    stop: () => refuseWithoutDaemon('stop'),
  });
  const caller = agent === null ? OWNER : { ...OWNER, agent };
  return { api: createLocalApi(services, caller), repair: () => store.repair(), close: () => store.close() };
}
