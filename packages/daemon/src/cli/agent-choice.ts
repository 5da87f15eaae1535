import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { AgentConfig, type AgentView, AppError, nearest } from '@tidemill/contract';
import { splitWords } from '../config/init.ts';

export interface AgentChoice {
  /** Its entry for the config. */
  config: object;
  /** For a person: the name and the version, or the command. */
  label: string;
  /** How to install it; null when it is installed. */
  install: string | null;
  /** Other known agents on this machine. */
  others: string[];
}

/** The agent for a new config: the one that was asked for, or the best of those that are installed. */
export async function chooseAgent(root: string, cwd: string, asked: string | undefined): Promise<AgentChoice> {
  const { discoverAgents } = await import('../agents/discover.ts');
  const known = await discoverAgents(root);
  const installed = known.filter((agent) => agent.installed);
  if (asked === undefined) {
    // They are in the order of what they can do. One that does not even tell its version is the last choice.
    const best = installed.find(({ answers }) => answers) ?? installed[0];
    return best ? chosen(best, installed) : chosen(known[0]!, []);
  }
  const command = splitWords(asked);
  const named = command.length === 1 ? known.find(({ name }) => name === command[0]) : undefined;
  if (named && !named.installed)
    throw new AppError('bad_input', `${named.name} is not installed`, { hint: `Install it: ${named.where}` });
  if (named) return chosen(named, installed);
  const { absenceOf } = await import('../agents/presence.ts');
  const missing = await absenceOf(AgentConfig.parse({ type: 'command', command }), root);
  if (missing !== null)
    throw new AppError('bad_input', `--agent: ${missing}`, { hint: whatIsRight(command[0]!, root, cwd, known) });
  return { config: { type: 'command', command }, label: asked, install: null, others: [] };
}

function chosen({ name, version, config, installed, where }: AgentView, all: AgentView[]): AgentChoice {
  return {
    config,
    label: version === null ? name : `${name} (${version})`,
    install: installed ? null : where,
    others: all.map((each) => each.name).filter((other) => other !== name),
  };
}

function whatIsRight(program: string, root: string, cwd: string, known: AgentView[]): string {
  const here = resolve(cwd, program);
  if (program.includes('/')) {
    const path = relative(root, here);
    const isMeant = existsSync(here) && !path.startsWith('..');
    return isMeant
      ? `A path starts at the root of the repository: --agent ./${path}`
      : `A path starts at the root of the repository, ${root}.`;
  }
  const names = known.filter(({ installed }) => installed).map(({ name }) => name);
  const guess = nearest(program, names);
  if (guess) return `Did you mean ${guess}?`;
  const first = known[0]!;
  return names.length > 0
    ? `Installed agents: ${names.join(', ')}. Any other program needs its path.`
    : `No known agent is installed. To install ${first.name}: ${first.where}`;
}
