import { AppError, type Config, type Project } from '@tidemill/contract';
import { createAgentFor } from '../agents/agent-for.ts';
import { absenceOf } from '../agents/presence.ts';
import { createRunLog } from '../agents/run-log.ts';
import type { DataFolder } from '../config/data-folder.ts';
import { CONFIG_FILE, type Settings } from '../config/load.ts';
import { Engine } from '../engine/engine.ts';
import { createGates } from '../gates/gates.ts';
import { createGuards } from '../guards/guards.ts';
import { type GitWorkspace, openWorkspace } from '../workspace/workspace.ts';
import { promptsOf, sha256 } from './offline.ts';
import type { OpenedStore } from './store-address.ts';

/** A project that this daemon works on. */
export interface ProjectEngine {
  project: Project;
  workspace: GitWorkspace;
  engine: Engine;
}

export interface EngineSurroundings {
  opened: OpenedStore;
  folder: DataFolder;
  owner: string;
  isOwnerDead(owner: string): boolean;
  onNote(text: string, error?: unknown): void;
}

/** Wires one project's engine: the only place where ports meet their implementations. It is not started yet. */
export async function createProjectEngine(
  project: Project,
  { config }: Settings,
  workers: number,
  { opened, folder, owner, isOwnerDead, onNote }: EngineSurroundings,
): Promise<ProjectEngine> {
  const { store, clock, ids } = opened;
  const { root } = project;
  const { target, landing, push, sandbox } = config;
  await checkAgents(config, root);
  const host = { root, dataDir: folder.path, homeId: folder.id, sandbox };
  const workspace = await openWorkspace({ root, target, landing, push, dataDir: folder.project(project.id), clock });
  const engine = new Engine({
    project,
    store,
    workspace,
    agentFor: createAgentFor(config.agents, host),
    gates: createGates({ config: config.gates, host, logDir: folder.gates }),
    guards: await createGuards({
      root,
      dataDir: folder.path,
      async isProven(hash) {
        const link = await store.evidenceByHash(hash);
        return link?.projectId === project.id && link.status === 'pass';
      },
    }),
    prompts: promptsOf(project),
    openRunLog: createRunLog({ dir: folder.runs, clock }),
    clock,
    ids,
    owner,
    hash: sha256,
    isOwnerDead,
    workers,
    onNote,
  });
  return { project, workspace, engine };
}

/** An agent that is not there would fail every task in turn: better to say so before anything begins. */
async function checkAgents({ agents }: Config, root: string): Promise<void> {
  for (const [name, agent] of Object.entries(agents)) {
    const missing = await absenceOf(agent, root);
    // Another one stands in for it as long as it is missing.
    const hasStandIn = 'fallback' in agent && agent.fallback.length > 0;
    if (missing !== null && !hasStandIn)
      throw new AppError('bad_config', `${CONFIG_FILE}: agents.${name}: ${missing}`, {
        hint: 'Name a program that exists; a relative path starts at the root of the repository.',
      });
  }
}
