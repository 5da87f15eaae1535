import { hash } from 'node:crypto';
import path from 'node:path';
import { type AgentConfig, AppError, MODES } from '@tidemill/contract';
import { systemClock } from '../clock.ts';
import type { Agent, AgentFor } from '../ports.ts';
import type { ChildHost } from '../process/child.ts';
import { passedOn } from '../process/environment.ts';
import { refusalHints } from '../process/refusal-hint.ts';
import { createAcpAgent } from './acp/agent.ts';
import { presetFor } from './acp/preset.ts';
import { CLAUDE_ENV, createClaudeAgent } from './claude/claude.ts';
import { CODEX_ENV, createCodexAgent } from './codex/codex.ts';
import { createCommandAgent } from './command.ts';
import { withFallback } from './fallback.ts';
import { loadPrices } from './prices.ts';
import { createScriptedAgent } from './scripted.ts';

/** Chooses among the configured agents: the mode's own entry, the entry of the mode it continues, else `default`. */
export function createAgentFor(agents: Record<string, AgentConfig>, host: ChildHost): AgentFor {
  const single = new Map(
    Object.entries(agents).map(([name, config]) => [
      name,
      { ...explained(asDeclared(config, createAgent(config, host)), host), account: accountOf(config) },
    ]),
  );
  const made = new Map(
    Object.entries(agents).map(([name, config]) => {
      const fallback = 'fallback' in config ? config.fallback : [];
      const others = fallback.flatMap((other) => {
        const agent = single.get(other);
        if (!agent) return [];
        return agents[other]?.type === config.type ? agent : choosingItsModel(agent);
      });
      return [name, withFallback(single.get(name)!, others, systemClock)];
    }),
  );
  return (mode, name) => {
    if (name !== undefined) {
      const named = made.get(name);
      if (named) return named;
      throw new AppError('bad_config', `no agent is configured as ${name}`, {
        hint: `The entries of \`agents\` are ${[...made.keys()].join(', ')}.`,
      });
    }
    const traits = MODES[mode];
    const agent = made.get(mode) ?? made.get('continues' in traits ? traits.continues : mode) ?? made.get('default');
    if (agent) return agent;
    throw new AppError('bad_config', `no agent is configured for the mode ${mode}`, {
      hint: 'give `agents` an entry named default',
    });
  };
}

/** Entries of one vendor that get the same variables use the same login or key, whatever their models. */
function accountOf(config: AgentConfig): string {
  if (config.type === 'scripted') return `scripted ${config.script}`;
  const vendor = config.type === 'acp' ? (config.preset ?? config.command) : config.type;
  const program = config.type === 'command' ? config.command : null;
  // A hash, because variables may be secrets.
  return hash('sha256', JSON.stringify([vendor, program, config.env, [...config.pass].sort()]));
}

/** The model in a prompt belongs to the vendor that the prompt was written for. */
const choosingItsModel = (agent: Agent): Agent => ({
  ...agent,
  start: (request, sink) => agent.start({ ...request, model: null }, sink),
});

/** A crash may have its cause in the sandbox. Then the message names the setting. */
const explained = (agent: Agent, host: ChildHost): Agent => ({
  ...agent,
  start: (request, sink) => {
    const session = agent.start(request, sink);
    const end = session.end.then(async (ended) => {
      if (ended.kind !== 'failed' || ended.failure !== 'crash') return ended;
      const about = { host, worktree: request.cwd, network: true, isAgent: true };
      const hints = await refusalHints(ended.message, about).catch(() => []); // the failure itself is what counts
      return hints.length === 0 ? ended : { ...ended, message: [ended.message, ...hints].join('\n') };
    });
    return { ...session, end };
  },
});

/** A free agent costs only what it reports. */
function asDeclared(config: AgentConfig, agent: Agent): Agent {
  if (!('free' in config) || !config.free) return agent;
  return {
    ...agent,
    isFree: true,
    start: (request, sink) =>
      agent.start(request, {
        ...sink,
        usage: (usage, settled) => sink.usage({ ...usage, costUsd: usage.costUsd ?? 0 }, settled),
      }),
  };
}

function createAgent(config: AgentConfig, host: ChildHost): Agent {
  switch (config.type) {
    case 'command':
      return createCommandAgent({
        label: `command ${config.command[0]}`,
        command: config.command,
        env: { ...passedOn(config.pass), ...config.env },
        writable: config.writable.map((folder) => path.resolve(host.root, folder)),
        host,
      });
    case 'codex':
      return createCodexAgent({
        label: ['codex', config.model].filter(Boolean).join(' '),
        program: config.program,
        model: config.model,
        env: { ...passedOn([...CODEX_ENV, ...config.pass]), ...config.env },
        writable: config.writable.map((folder) => path.resolve(host.root, folder)),
        prices: loadPrices(host.root),
        host,
      });
    case 'acp': {
      const preset = presetFor(config);
      const command = config.command ?? preset?.command ?? [];
      return createAcpAgent({
        label: ['acp', config.preset ?? command[0], config.model].filter(Boolean).join(' '),
        command,
        preset,
        model: config.model,
        env: { ...passedOn([...(preset?.pass ?? []), ...config.pass]), ...config.env },
        writable: config.writable.map((folder) => path.resolve(host.root, folder)),
        host,
      });
    }
    case 'claude':
      return createClaudeAgent({
        label: ['claude', config.model].filter(Boolean).join(' '),
        program: config.program,
        model: config.model,
        env: { ...passedOn([...CLAUDE_ENV, ...config.pass]), ...config.env },
        writable: config.writable.map((folder) => path.resolve(host.root, folder)),
        prices: loadPrices(host.root),
        host,
      });
    case 'scripted':
      return createScriptedAgent({
        label: `scripted ${path.basename(config.script)}`,
        script: path.resolve(host.root, config.script),
        host,
      });
  }
}
