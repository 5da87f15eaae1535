import { AcpPreset, type AgentView } from '@tidemill/contract';
import type { Clock } from '../ports.ts';
import { isInside } from '../process/mounts.ts';
import { findProgram } from '../process/program.ts';
import { presetFor } from './acp/preset.ts';
import { findClaude, INSTALL, problemOfVersion, UPDATE } from './claude/program.ts';
import { findCodex } from './codex/program.ts';
import { versionOf } from './program-version.ts';

/** How long a result is reused: each search starts five programs. */
const KNOWN_FOR_MS = 10_000;

/** Searches this machine for the known agents and their versions. */
export async function discoverAgents(root: string): Promise<AgentView[]> {
  const presets = AcpPreset.options.map((preset) => findAcp(preset, root));
  return Promise.all([findClaudeAgent(root), findCodexAgent(root), ...presets]);
}

/** The same with a cache. */
export function createAgentSearch(clock: Clock): (root: string) => Promise<AgentView[]> {
  const known = new Map<string, { at: number; agents: Promise<AgentView[]> }>();
  return (root) => {
    const last = known.get(root);
    if (last && Math.abs(clock.now() - last.at) < KNOWN_FOR_MS) return last.agents;
    const agents = discoverAgents(root);
    known.set(root, { at: clock.now(), agents });
    agents.catch(() => known.delete(root));
    return agents;
  };
}

async function findClaudeAgent(root: string): Promise<AgentView> {
  const found = await findClaude(undefined, root);
  const { version, answers } = await asked(found, root);
  const isTooOld = problemOfVersion(version) !== null;
  return {
    name: 'claude',
    config: { type: 'claude' },
    installed: 'file' in found && !isTooOld,
    version,
    answers,
    where: 'missing' in found ? INSTALL : isTooOld ? UPDATE : found.file,
    can: { hooks: true, cost: true, structuredOutput: true, resume: true },
  };
}

async function findCodexAgent(root: string): Promise<AgentView> {
  const found = await findCodex(undefined, root);
  return {
    name: 'codex',
    config: { type: 'codex' },
    installed: 'file' in found,
    ...(await asked(found, root)),
    where: 'file' in found ? found.file : 'npm install -g @openai/codex',
    can: { hooks: true, cost: true, structuredOutput: true, resume: true },
  };
}

type PresetName = (typeof AcpPreset.options)[number];

/** In the protocol, reporting a session's cost is optional. */
const TELLS_COST: PresetName[] = ['opencode', 'claude-agent-acp'];

async function findAcp(preset: PresetName, root: string): Promise<AgentView> {
  const { command, install } = presetFor({ preset })!;
  const found = await findProgram(command[0]!, searchPath(), root);
  return {
    name: preset,
    config: { type: 'acp', preset },
    installed: 'file' in found,
    ...(await asked(found, root)),
    where: 'file' in found ? found.file : install,
    can: { hooks: false, cost: TELLS_COST.includes(preset), structuredOutput: false, resume: true },
  };
}

/** A program of the repository runs only in the sandbox, so it is not asked. */
async function asked(
  found: { file: string } | { missing: string },
  root: string,
): Promise<Pick<AgentView, 'version' | 'answers'>> {
  const version = 'file' in found && !isInside(found.file, root) ? await versionOf(found.file) : null;
  return { version, answers: version !== null };
}

const searchPath = () => ({ PATH: process.env.PATH ?? '' });
