import { hash } from 'node:crypto';
import { join } from 'node:path';
import { AppError, type Config, type Project } from '@tidemill/contract';
import { createAgentFor } from '../agents/agent-for.ts';
import { absenceOf } from '../agents/presence.ts';
import { createRunLog } from '../agents/run-log.ts';
import { assetDir } from '../assets.ts';
import { CONFIG_FILE, isUntested, type Settings, UNTESTED } from '../config/check.ts';
import type { DataFolder } from '../config/data-folder.ts';
import { createTripwireFile } from '../config/tripwire-file.ts';
import { createDeliverer } from '../delivery/deliverer.ts';
import type { EngineDeps } from '../engine/deps.ts';
import { Engine } from '../engine/engine.ts';
import { createGates } from '../gates/gates.ts';
import { createGuards } from '../guards/guards.ts';
import { createHookRefusals } from '../hooks/refusals.ts';
import type { Clock, Reactors, RunAccess, RunningStep, Store } from '../ports.ts';
import { cleanUp } from '../prepare/cleanup.ts';
import { createPreparation } from '../prepare/preparation.ts';
import type { ChildHost } from '../process/child.ts';
import { readablePlaces } from '../process/network-settings.ts';
import { loadCatalogue } from '../questions/catalogue.ts';
import { createSessionFiles } from '../sessions/session-files.ts';
import { GithubForge } from '../trackers/github/pulls/forge.ts';
import { createWorkflows } from '../trackers/github/workflows/workflow-runs.ts';
import { type GitWorkspace, openWorkspace } from '../workspace/workspace.ts';
import { ciOf, githubOf, workflowsOf } from './github.ts';
import { guardToolsOf } from './guard-tools.ts';
import { createIdeation } from './ideation.ts';
import { improvementsOf, knowledgeOf, landingOf, promptFilesOf, promptsOf } from './repositories.ts';
import type { OpenedStore } from './store-address.ts';
import { ConfiguredTracker } from './trackers.ts';

/** A project that this daemon works on. */
export interface ProjectEngine {
  /** The current state: the rules change with the config file. */
  readonly project: Project;
  /** The `prepare` steps that run now. */
  readonly preparing: readonly RunningStep[];
  workspace: GitWorkspace;
  engine: Engine;
  /** New work uses these settings. */
  reconfigure(project: Project, settings: Settings): Promise<void>;
  /** Ends background work. It must not be used afterwards. */
  close(): Promise<void>;
}

export interface EngineSurroundings {
  opened: OpenedStore;
  folder: DataFolder;
  owner: string;
  isOwnerDead(owner: string): boolean;
  /** Why the repository belongs to another data folder now, if it does. */
  takenOver(): Promise<string | null>;
  reactors: Reactors;
  runAccess: RunAccess;
  env: NodeJS.ProcessEnv;
  onNote(text: string, error?: unknown): void;
}

/** The parts that change with the config file while the engine runs. */
type Changing = Pick<
  EngineDeps,
  | 'project'
  | 'agentFor'
  | 'catalogue'
  | 'ideation'
  | 'gates'
  | 'deliverer'
  | 'guards'
  | 'preparation'
  | 'batch'
  | 'starts'
  | 'provesEach'
  | 'tracker'
  | 'pullRequests'
  | 'workflows'
> & {
  cleanup(worktree: string): Promise<void>;
};

/** Creates one project's engine, without starting it. The only place that connects ports and implementations. */
export async function createProjectEngine(
  project: Project,
  settings: Settings,
  workers: number,
  { opened, folder, owner, isOwnerDead, takenOver, reactors, runAccess, env, onNote }: EngineSurroundings,
): Promise<ProjectEngine> {
  const { store, clock, ids } = opened;
  const { root } = project;
  const { target } = settings.config;
  const { landing, push } = landingOf(settings.config);
  await checkAgents(settings.config, root);
  let current: Changing;
  const dataDir = folder.project(project.id);
  const workspace = await openWorkspace({
    root,
    target,
    landing,
    push,
    dataDir,
    clock,
    beforeRemoval: (path) => current.cleanup(path),
    takenOver,
  });
  const tracker = new ConfiguredTracker();
  const github = githubOf({ root, env, clock });
  const parts = (changed: Project, next: Settings) =>
    changingParts(changed, next, { folder, store, workspace, dataDir, clock, tracker, github, onNote });
  current = await parts(project, settings);
  const { guards: learnedGuards, calls, sessions: ownSessions } = guardToolsOf(project, folder.path, onNote);
  const engine = new Engine({
    get project() {
      return current.project;
    },
    get pullRequests() {
      return current.pullRequests;
    },
    get workflows() {
      return current.workflows;
    },
    get agentFor() {
      return current.agentFor;
    },
    get catalogue() {
      return current.catalogue;
    },
    get ideation() {
      return current.ideation;
    },
    get gates() {
      return current.gates;
    },
    get deliverer() {
      return current.deliverer;
    },
    get guards() {
      return current.guards;
    },
    get batch() {
      return current.batch;
    },
    get starts() {
      return current.starts;
    },
    get provesEach() {
      return current.provesEach;
    },
    get preparation() {
      return current.preparation;
    },
    get tracker() {
      return current.tracker ?? null;
    },
    store,
    workspace,
    conflicts: workspace,
    prompts: promptsOf(project),
    promptFiles: promptFilesOf(project),
    knowledge: knowledgeOf(project),
    improvements: improvementsOf(project),
    tripwires: createTripwireFile(dataDir),
    learnedGuards,
    calls,
    ownSessions,
    hookRefusals: createHookRefusals({ root, dataDir: folder.path }),
    sessions: createSessionFiles({ root, clock, onNote }),
    openRunLog: createRunLog({ dir: folder.runs, clock, onError: (_runId, error) => onNote(error.message) }),
    reactors,
    runAccess,
    clock,
    ids,
    host: folder.host,
    owner,
    hash: (text) => hash('sha256', text),
    isOwnerDead,
    workers,
    push,
    onNote,
  });
  return {
    get project() {
      return current.project;
    },
    get preparing() {
      return current.preparation?.running ?? [];
    },
    workspace,
    engine,
    async reconfigure(next, changed) {
      current = await parts(next, changed);
      engine.settingsChanged();
    },
    async close() {
      await current.preparation?.settled();
      await workspace.close();
    },
  };
}

/** The parts that do not change with the config file. */
interface Standing extends Pick<EngineSurroundings, 'folder' | 'onNote'> {
  store: Store;
  workspace: GitWorkspace;
  dataDir: string;
  tracker: ConfiguredTracker;
  clock: Clock;
  github: ReturnType<typeof githubOf>;
}

async function changingParts(
  project: Project,
  { config }: Settings,
  { folder, store, workspace, dataDir, clock, tracker, github, onNote }: Standing,
): Promise<Changing> {
  const { root } = project;
  const { prepare: steps, include } = config;
  const readable = readablePlaces(config.readable, root);
  const { sandbox, limits } = config;
  const host: ChildHost = { root, dataDir: folder.path, homeId: folder.id, sandbox, readable, limits };
  const client = github(config);
  const pullRequests =
    config.landing === 'pull_request' && client
      ? { forge: new GithubForge(client, clock), settings: config.pullRequest }
      : undefined;
  return {
    project,
    pullRequests,
    workflows: workflowsOf(config),
    batch: config.batch.size,
    starts: {
      untested: isUntested(config) ? UNTESTED : null,
      isTestless: config.untested,
      waiting: config.limits.waiting ?? null,
    },
    provesEach: config.batch.prove === 'each',
    tracker: await tracker.followed(config, { project, dataDir, clock, github: github(config) }),
    cleanup: (path) => cleanUp(config.cleanup, host, path, onNote),
    agentFor: createAgentFor(config.agents, host),
    catalogue: loadCatalogue({ root, builtinDir: assetDir('prompts/questions') }),
    ideation: createIdeation({ project, config, workspace, dataDir, host, onNote }),
    gates: createGates({
      ...(client ? { ci: ciOf(client, workspace) } : {}),
      config: config.gates,
      hashes: project.rules.gateConfigs,
      host,
      logDir: folder.gates,
      readsDir: folder.reads,
    }),
    deliverer: createDeliverer({
      config: config.delivery,
      host,
      logOf: (deliveryId) => folder.deliveryLog(deliveryId),
      env: process.env,
      ...(client ? { workflows: createWorkflows({ client, clock, branch: config.target }) } : {}),
    }),
    preparation: createPreparation({
      steps,
      include,
      root,
      host,
      dataDir,
      workspace,
      onNote,
      cacheDir: join(folder.path, 'package-cache'),
    }),
    guards: await createGuards({
      root,
      dataDir: folder.path,
      async isProven(hash) {
        const link = await store.evidenceByHash(hash);
        return link?.projectId === project.id && link.status === 'pass';
      },
    }),
  };
}

/** A missing agent would fail one task after the other, so this is checked at the start. */
export async function checkAgents({ agents }: Config, root: string): Promise<void> {
  for (const [name, agent] of Object.entries(agents)) {
    const missing = await absenceOf(agent, root);
    // Its fallback is used while it is missing.
    const hasStandIn = 'fallback' in agent && agent.fallback.length > 0;
    if (missing !== null && !hasStandIn)
      throw new AppError('bad_config', `${CONFIG_FILE}: agents.${name}: ${missing} (\`tidemill agents\` lists others)`);
  }
}
