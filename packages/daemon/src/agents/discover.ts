import { execFile } from 'node:child_process';
import { AcpPreset, type AgentView } from '@tidemill/contract';
import type { Clock } from '../ports.ts';
import { findProgram } from '../process/program.ts';
import { presetFor } from './acp/preset.ts';
import { bundledProgram, findSdk } from './claude/sdk.ts';
import { findCodex } from './codex/program.ts';

const ANSWER_WITHIN_MS = 10_000;
/** How long a result is reused: each search starts five programs. */
const KNOWN_FOR_MS = 10_000;

/** Searches this machine for the known agents and their versions. */
export async function discoverAgents(root: string): Promise<AgentView[]> {
  const presets = AcpPreset.options.map((preset) => findAcp(preset, root));
  return Promise.all([findClaude(root), findCodexAgent(root), ...presets]);
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

async function findClaude(root: string): Promise<AgentView> {
  const sdk = findSdk(root);
  const own = sdk === null ? null : bundledProgram(sdk);
  const program = own === null ? await findProgram('claude', searchPath(), root) : { file: own };
  return {
    name: 'claude',
    config: { type: 'claude' },
    installed: sdk !== null,
    ...(await asked(program)),
    where: sdk ?? 'npm install -g @anthropic-ai/claude-agent-sdk',
    can: { hooks: true, cost: true, structuredOutput: true, resume: true },
  };
}

async function findCodexAgent(root: string): Promise<AgentView> {
  const found = await findCodex(undefined, root);
  return {
    name: 'codex',
    config: { type: 'codex' },
    installed: 'file' in found,
    ...(await asked(found)),
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
    ...(await asked(found)),
    where: 'file' in found ? found.file : install,
    can: { hooks: false, cost: TELLS_COST.includes(preset), structuredOutput: false, resume: true },
  };
}

async function asked(found: { file: string } | { missing: string }): Promise<Pick<AgentView, 'version' | 'answers'>> {
  const version = 'file' in found ? await versionOf(found.file) : null;
  return { version, answers: version !== null };
}

const searchPath = () => ({ PATH: process.env.PATH ?? '' });

function versionOf(file: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(file, ['--version'], { timeout: ANSWER_WITHIN_MS }, (error, stdout) =>
      resolve(error ? null : stdout.trim().split('\n')[0] || null),
    );
  });
}
