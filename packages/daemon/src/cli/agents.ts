import type { AgentView } from '@tidemill/contract';
import type { Command } from 'commander';
import { reachDaemon } from '../assembly/reach.ts';
import { inspectRepository } from '../git/repository.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';

export function addAgents(program: Command, context: CliContext): void {
  const agents = program.command('agents').description('list installed agents and what each can do');
  agents
    .command('list', { isDefault: true })
    .description('list known agents: version, install path, abilities')
    .option(...jsonOption)
    .addHelpText('after', '\nAny other program can be an agent too: see docs/agents.md, "The command agent".')
    .action((options: Json) => list(context, options));
  agents
    .command('test <name>')
    .description('run a small task with an agent in a temporary repository and report the result')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nUse a name from `agents` in .tidemill/config.yaml or from `tidemill agents`.\n\nExamples:\n  tidemill agents test default\n  tidemill agents test claude --json',
    )
    .action(async (name: string, options: Json) => {
      const { testAgent } = await import('./agent-trial.ts');
      await testAgent(context, await rootAround(context.cwd), name, options);
    });
}

/** The repository around `cwd`, or `cwd` itself outside a repository. */
const rootAround = (cwd: string) =>
  inspectRepository(cwd).then(
    (info) => info.root,
    () => cwd,
  );

async function list({ cwd, env, terminal }: CliContext, options: Json): Promise<void> {
  const agents = await found(env, await rootAround(cwd));
  if (options.json) return terminal.json(agents);
  for (const { name, installed, version, where, can } of agents) {
    const abilities = Object.entries(can).filter(([, has]) => has);
    const missing = version === null ? 'not installed' : `${version}: too old`;
    const state = installed ? (version ?? 'installed, version unknown') : missing;
    terminal.line(`${name.padEnd(18)}${state}`);
    terminal.line(`${' '.repeat(18)}${installed ? where : `to ${version === null ? 'install' : 'update'}: ${where}`}`);
    if (installed) terminal.line(`${' '.repeat(18)}can: ${abilities.map(([ability]) => words(ability)).join(', ')}`);
  }
}

/** Asks the daemon of this project; without one, searches from this shell. */
async function found(env: NodeJS.ProcessEnv, root: string): Promise<AgentView[]> {
  const daemon = await reachDaemon(env);
  const [project] = (await daemon?.api.projects({ root })) ?? [];
  if (daemon && project) return daemon.api.agents({ project: project.id });
  const { discoverAgents } = await import('../agents/discover.ts');
  return discoverAgents(root);
}

const words = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
