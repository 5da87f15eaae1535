import { stringify } from 'yaml';
import type { ProposedGate, ProposedStep } from './detect/tool.ts';

const inline = (value: unknown) =>
  stringify(value, { collectionStyle: 'flow', flowCollectionPadding: true, lineWidth: 0 }).trimEnd();

export interface ConfigParts {
  target: string;
  agent: object;
  /** How to install it, if it is not installed yet. */
  install?: string | null;
  prepare: ProposedStep[];
  include: string[];
  source: string[];
  gates: ProposedGate[];
}

/** A config with comments. */
export function configText({ target, agent, install, prepare, include, source, gates }: ConfigParts): string {
  return `# Tidemill: how agents work on this repository. Commit this file; it is versioned with the code.

# The branch that finished work lands on.
target: ${inline(target)}

# Number of builder agents, 1 to 10. One more agent reviews.
workers: 1

# Limits in USD. Days and months begin at midnight in \`timeZone\` (default: the machine's). At 90 % no new work starts, at
# 100 % all agents stop. Work is kept and continues the next day, or when you raise the limit.
budget: { dailyUsd: 50, monthlyUsd: 500 }

# Stages of a task: feature (plan, implement, verify, review, merge), bug (investigate first) or quick (no plan, no
# review). Put your own pipelines into .tidemill/pipelines/NAME.yaml.
pipeline: feature

# How a task lands: squash (one commit), rebase (its own commits), merge (a merge commit), or pull_request (a pull request
# on GitHub; see docs/github.md).
landing: squash

# true: a person approves each plan before it is built.
reviewPlans: false

# What is pushed to the target's remote, never by force: target (each landing), branch (each task's branch, for a pull
# request that others merge) or never. What others push is always taken in first, except with never.
push: target

# Up to this many waiting tasks are proven as one tree and land together, one commit each.
batch: 5

# auto: agents and gates run in bubblewrap if it is installed. off: never.
sandbox: auto

# Files whose conflicts a person must resolve, such as ["migrations/**"].
critical: []

# \`tidemill agents\` lists the agents that Tidemill knows. Any other program can be an agent: it starts in the task's worktree,
# reads one JSON object from standard input and prints {"tidemill":"result","outcome":"pr_ready","summary":"..."} when it is
# done; see docs/agents.md. "default" is used for all modes; an entry named after a mode (plan, investigate, implement,
# request_changes, review) is used for that mode.
agents:
  default: ${inline(agent)}${install ? `   # not installed yet: ${install}` : ''}
  # review: { type: command, command: [./my-reviewer] }

# Commands that prepare a new worktree for agents and gates, for example install dependencies. The result (the files that
# git ignores) is cached, and rebuilt only when one of \`files\` changes. These commands may use the network.
${prepareText(prepare)}
# Ignored files that a worktree needs; they are copied from your checkout.
include: ${inline(include)}

# Commands that run in a worktree before it is removed, such as ["docker compose down"].
cleanup: []

# The product's source, as globs. Every other file that a gate reads decides what the gate checks (a script, a
# configuration, data with test cases): the reviewer sees an agent's changes to it first, or you approve them if there is no
# review. Tests in these folders are not source. []: the usual folders, such as src and lib.
source: ${inline(source)}

# Checks of a change. Each command runs on a clean checkout of the result, and a change lands only if all of them exit
# with 0. network: true allows network access. needs: [build] runs a gate only after build passed. fixes: true is for a
# formatter: its changes are committed. proves: ["data/*.csv"] names more files that decide what a gate checks: the
# reviewer sees an agent's changes to them first, or you approve them if there is no review. A gate that runs tests on the target
# must run tests on each change, too; counts: "(?<passed>\\\\d+) ok" reads the figures of an unusual runner. Other kinds of gates look for
# something: { name: secrets, kind: secrets } for keys in the change, { name: audit, kind: audit } for new vulnerabilities of
# dependencies, { name: docs, kind: docs } for undocumented names, which only warns; see docs/settings.md.
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
