import { stringify } from 'yaml';
import type { ProposedGate, ProposedStep } from './detect/tool.ts';

const inline = (value: unknown) =>
  stringify(value, { collectionStyle: 'flow', flowCollectionPadding: true, lineWidth: 0 }).trimEnd();

export interface ConfigParts {
  target: string;
  agent: object | null;
  prepare: ProposedStep[];
  include: string[];
  gates: ProposedGate[];
}

/** A config that explains itself. */
export function configText({ target, agent, prepare, include, gates }: ConfigParts): string {
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

# How a task lands: squash (one commit), rebase (its own commits) or merge (a merge commit).
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
# input and prints {"tidemill":"result","outcome":"pr_ready","summary":"..."} when it is done; docs/agents.md
# describes the rest. "default" does everything; an entry named after a mode (plan, investigate, implement, request_changes,
# review) takes that mode over.
agents:
${agent ? `  default: ${inline(agent)}` : '  default: { type: command, command: [./my-agent] }   # replace ./my-agent by your agent'}
  # review: { type: command, command: [./my-reviewer] }

# What a fresh worktree needs before agents and gates can work in it, such as installed dependencies. The result (the files
# that git ignores) is kept, and made again only when one of \`files\` changed. These commands may use the network.
${prepareText(prepare)}
# Files that git ignores and a worktree needs, copied from your checkout.
include: ${inline(include)}

# Commands that run in a worktree before it is removed, such as ["docker compose down"].
cleanup: []

# What proves a change. Each command runs on a clean checkout of what would land, and nothing lands unless all of them
# exit with 0. network: true lets a gate reach the network. needs: [build] runs a gate only when build has passed.
# fixes: true is for a formatter: its changes are committed. proves: ["data/*.csv"] names further files that decide what a
# gate checks: an agent's change of them is shown to the reviewer first, or waits for you where nobody reviews.
${gatesText(gates)}`;
}

function prepareText(steps: ProposedStep[]): string {
  if (steps.length === 0)
    return 'prepare: []\n# For example:\n# prepare:\n#   - { run: "npm ci", files: [package-lock.json, package.json] }\n';
  const lines = steps.flatMap(({ run, files, env, comment }) => [
    ...(comment ? [`  # ${comment}`] : []),
    `  - run: ${JSON.stringify(run)}`,
    `    files: ${inline(files)}`,
    ...(env ? [`    env: ${inline(env)}`] : []),
  ]);
  return `prepare:\n${lines.join('\n')}\n`;
}

function gatesText(gates: ProposedGate[]): string {
  if (gates.length === 0)
    return 'gates: []\n# No tests were found. For example:\n# gates:\n#   - { name: test, run: "make test", timeout: 2m }\n';
  const lines = gates.map(({ name, run, timeout, network, env }) => {
    const more = `${network ? ', network: true' : ''}${env ? `, env: ${inline(env)}` : ''}`;
    return `  - { name: ${name}, run: ${JSON.stringify(run)}, timeout: ${timeout}${more} }`;
  });
  return `gates:\n${lines.join('\n')}\n`;
}
