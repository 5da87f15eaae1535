import { execFile } from 'node:child_process';
import { AcpPreset } from '@tidemill/contract';
import { findProgram } from '../process/program.ts';
import { presetFor } from './acp/preset.ts';
import { bundledProgram, findSdk } from './claude/sdk.ts';
import { findCodex } from './codex/program.ts';

const ANSWER_WITHIN_MS = 10_000;

export interface FoundAgent {
  name: string;
  /** The entry that uses it, as it would stand in the config. */
  config: { type: 'claude' } | { type: 'codex' } | { type: 'acp'; preset: string };
  installed: boolean;
  /** What it says of its version; null when it is not there or does not answer. */
  version: string | null;
  answers: boolean;
  /** Where it was found, or what would put it there. */
  where: string;
  can: { hooks: boolean; cost: boolean; structuredOutput: boolean; resume: boolean };
}

/** The agents Tidemill knows by name, each looked for on this machine and asked for its version. */
export async function discoverAgents(root: string): Promise<FoundAgent[]> {
  const presets = AcpPreset.options.map((preset) => findAcp(preset, root));
  return Promise.all([findClaude(root), findCodexAgent(root), ...presets]);
}

async function findClaude(root: string): Promise<FoundAgent> {
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

async function findCodexAgent(root: string): Promise<FoundAgent> {
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

/** The protocol leaves it to the agent whether a session's cost is told. */
const TELLS_COST: PresetName[] = ['opencode', 'claude-agent-acp'];

async function findAcp(preset: PresetName, root: string): Promise<FoundAgent> {
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

async function asked(found: { file: string } | { missing: string }): Promise<Pick<FoundAgent, 'version' | 'answers'>> {
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
