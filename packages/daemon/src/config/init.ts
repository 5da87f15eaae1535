import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { stringify } from 'yaml';
import { CONFIG_FILE } from './check.ts';
import { detectGates, type ProposedGate } from './detect.ts';
import { loadSettings } from './load.ts';

export interface InitResult {
  file: string;
  /** False when a config was there already and was left alone. */
  written: boolean;
  target: string;
  tools: string[];
  gates: { name: string; run: string }[];
  warnings: string[];
}

/** Writes a project's config with what the repository itself tells. Commits nothing, overwrites nothing. */
export async function initProject(input: {
  root: string;
  target: string;
  agent?: string;
  /** The config of an agent that was found on this machine, used when none was asked for. */
  found?: object;
}): Promise<InitResult> {
  const detected = await detectGates(input.root);
  const agent =
    input.agent === undefined ? (input.found ?? null) : { type: 'command', command: splitWords(input.agent) };
  const file = join(input.root, CONFIG_FILE);
  await mkdir(dirname(file), { recursive: true });
  let written = true;
  try {
    await writeFile(file, configText(input.target, agent, detected.gates), { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    written = false;
  }
  const { config, warnings } = await loadSettings(input.root);
  return {
    file: CONFIG_FILE,
    written,
    target: config.target,
    tools: detected.tools,
    gates: config.gates.map(({ name, run }) => ({ name, run })),
    warnings,
  };
}

/** Splits as a shell would, quotes and backslashes included; nothing else of a shell is meant. */
export function splitWords(line: string): string[] {
  const words = [...line.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, escaped, double, single) =>
      escaped !== undefined ? escaped : double !== undefined ? double.replace(/\\(.)/g, '$1') : single,
    ),
  );
  if (words.length === 0)
    throw new AppError('bad_input', 'the agent command is empty', { hint: 'For example: --agent "./my-agent --fast"' });
  return words;
}

const inline = (value: unknown) =>
  stringify(value, { collectionStyle: 'flow', flowCollectionPadding: true, lineWidth: 0 }).trimEnd();

function configText(target: string, agent: object | null, gates: ProposedGate[]): string {
  return `# Tidemill: how agents work on this repository. Commit this file; it is versioned with the code.

# The branch that finished work lands on.
target: ${inline(target)}

# How many agents build at once, 1 to 10. One more reviews.
workers: 1

# What may be spent in USD. Days and months begin at midnight of \`timeZone\` (the machine's own when left out). At 90 %
# nothing new is begun, at 100 % all agents stop; work is kept and goes on with the next day, or when this is raised.
budget: { dailyUsd: 50, monthlyUsd: 500 }

# Stages of a task: feature (plan, implement, verify, review, merge), bug (investigate first) or quick (no plan, no
# review). Your own go to .tidemill/pipelines/NAME.yaml.
pipeline: feature

# One commit per task on the target: squash, rebase or merge.
landing: squash

# true: a person approves each plan before it is built.
reviewPlans: false

# true: the target is pushed to its remote after each landing, never by force.
push: true

# auto: agents and gates run in bubblewrap where it is installed. off: never.
sandbox: auto

# Files whose conflicts only a person resolves, such as ["migrations/**"].
critical: []

# Who does the work. An agent is any program: it is started in the task's worktree, reads one JSON object from standard
# input and prints {"tidemill":"result","outcome":"pr_ready","summary":"..."} when it is done; the README tells
# the rest. "default" does everything; an entry named after a mode (plan, investigate, implement, request_changes,
# review) takes that mode over.
agents:
${agent ? `  default: ${inline(agent)}` : '  default: { type: command, command: [./my-agent] }   # replace ./my-agent by your agent'}
  # review: { type: command, command: [./my-reviewer] }

# What proves a change. Each command runs in the worktree, and nothing lands unless all of them exit with 0.
# network: true lets a gate reach the network.
${gatesText(gates)}`;
}

function gatesText(gates: ProposedGate[]): string {
  if (gates.length === 0)
    return 'gates: []\n# No tests were found. For example:\n# gates:\n#   - { name: test, run: "make test", timeout: 2m }\n';
  const lines = gates.map(({ name, run, timeout, network }) => {
    const more = network ? ', network: true' : '';
    return `  - { name: ${name}, run: ${JSON.stringify(run)}, timeout: ${timeout}${more} }`;
  });
  return `gates:\n${lines.join('\n')}\n`;
}
