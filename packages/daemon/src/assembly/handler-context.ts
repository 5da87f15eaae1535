import { AppError, type DaemonInfo, type SandboxView } from '@tidemill/contract';
import { Calendars } from '@tidemill/core';
import { absenceOf } from '../agents/presence.ts';
import { ConfigSaves } from '../config/config-file.ts';
import type { DataFolder } from '../config/data-folder.ts';
import { loadSettings } from '../config/load.ts';
import { createOutputFiles } from '../config/output-files.ts';
import { ReactorHost } from '../engine/reactors/host.ts';
import type { Machine, People, Services } from '../handlers/context.ts';
import { StatusCache } from '../handlers/project/status-cache.ts';
import { Metrics } from '../metrics/metrics.ts';
import { atMost } from '../process/at-most.ts';
import { sandboxStatus } from '../process/sandbox.ts';
import type { ProcessEngines } from './engines.ts';
import { ProjectChannels } from './project-channels.ts';
import { borrowWorkspace, improvementsOf, knowledgeOf, promptFilesOf, promptsOf } from './repositories.ts';
import type { OpenedStore } from './store-address.ts';

/** Limit of concurrent requests that read a repository. Each starts programs, and the agents need the machine too. */
const MOST_LOOKS = 8;

export interface ProcessParts {
  opened: OpenedStore;
  folder: DataFolder;
  env: NodeJS.ProcessEnv;
  /** Null without a daemon. */
  info: DaemonInfo | null;
  onNote(text: string, error?: unknown): void;
}

/** Shared by the engines and the handlers of one process. */
export interface Shared {
  opened: OpenedStore;
  reactors: ReactorHost;
  metrics: Metrics;
  channels: ProjectChannels;
}

export function createShared({ opened, folder, env, info, onNote }: ProcessParts): Shared {
  const { store, clock } = opened;
  const reactors = new ReactorHost({ store, clock, onNote });
  const host = { apiUrl: info?.url ?? '', dataDir: folder.path, homeId: folder.id };
  return {
    opened,
    reactors,
    metrics: new Metrics(store, clock, onNote),
    channels: new ProjectChannels({ store, clock, reactors, env, ...host, onNote }),
  };
}

/** Creates the handlers' services, with or without a daemon. */
export function createServices(
  { opened, folder, env, info, onNote }: ProcessParts,
  { reactors, metrics, channels }: Shared,
  own: { engines: ProcessEngines; access: People['access']; stop: Machine['stop'] },
): Services {
  const { store, clock, ids, name } = opened;
  const { engines, access, stop } = own;
  const lend = atMost(MOST_LOOKS);
  return {
    store,
    clock,
    ids,
    engines,
    repositories: {
      withWorkspace: (project, work) =>
        lend(() => {
          const open = engines.workspaceOf(project);
          return open ? work(open) : borrowWorkspace(project, folder, clock, work);
        }),
      promptsOf,
      promptFilesOf,
      knowledgeOf,
      improvementsOf,
      guardToolsOf: async (project) => (await import('./guard-tools.ts')).guardToolsOf(project, folder.path, onNote),
      configSaves: new ConfigSaves(),
    },
    people: { access, channels },
    machine: {
      folder,
      outputs: createOutputFiles(folder, clock),
      daemon: info,
      reactors: info && reactors,
      metrics,
      statusCache: new StatusCache(),
      calendars: new Calendars(),
      sandbox: sandboxView,
      agents: agentSearch(opened),
      absenceOf,
      stop,
      setupWarnings: async (project) => {
        const [{ setupWarnings }, { sharedStore }] = await Promise.all([
          import('./setup-warnings.ts'),
          import('./repository-owner.ts'),
        ]);
        return setupWarnings(project.root, { ...folder, store: opened.isShared ? sharedStore(project) : null });
      },
      hookSecret: async ({ root }) => {
        const settings = await loadSettings(root).catch((error: unknown) => {
          // Who calls is unknown yet, and learns nothing about a broken config.
          if (error instanceof AppError) return null;
          throw error;
        });
        return env[settings?.config.github?.webhookSecret?.slice(1) ?? '']?.trim() || null;
      },
      examineGithub: async ({ root }, config) => {
        const { examineGithub } = await import('./github.ts');
        return examineGithub({ root, config, env, clock });
      },
      examine: async () => {
        const { examineMachine } = await import('./examine.ts');
        const { id: folderId, path: dataFolder, tokenFile } = folder;
        const daemonPid = info?.pid ?? null;
        return examineMachine({ store, storeName: name, folderId, dataFolder, tokenFile, daemonPid });
      },
    },
  };
}

/** Loaded on first use: few commands search for agents. */
function agentSearch({ clock }: OpenedStore): Machine['agents'] {
  let search: Promise<Machine['agents']> | undefined;
  return async (root) => {
    search ??= import('../agents/discover.ts').then(({ createAgentSearch }) => createAgentSearch(clock));
    return (await search)(root);
  };
}

async function sandboxView(): Promise<SandboxView> {
  const { available, why } = await sandboxStatus();
  return { active: available, text: why };
}
