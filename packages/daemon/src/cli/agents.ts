import type { AgentView } from '@tidemill/contract';
import type { Command } from 'commander';
import { reachDaemon } from '../assembly/reach.ts';
import { inspectRepository } from '../git/repository.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';

export function addAgents(program: Command, context: CliContext): void {
  const agents = program.command('agents').description('agents that are installed here, and what each can do');
  agents
    .command('list', { isDefault: true })
    .description('all that Tidemill knows by name: version, whether it answers, what it can do')
    .option(...jsonOption)
    .addHelpText('after', '\nAny other program can be an agent too: see docs/agents.md, "The command agent".')
    .action((options: Json) => list(context, options));
  agents
    .command('test <name>')
    .description('let an agent do a tiny task in a temporary repository, and say what happened')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nThe name is an entry of `agents` in .tidemill/config.yaml, or one that `tidemill agents` lists.\n\nExamples:\n  tidemill agents test default\n  tidemill agents test claude --json',
    )
    .action(async (name: string, options: Json) => {
      const { testAgent } = await import('./agent-trial.ts');
      await testAgent(context, await rootAround(context.cwd), name, options);
    });
}

/** The repository one stands in, or just the folder: an agent can be looked for anywhere. */
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
    const told = installed ? (version ?? 'is there, but does not answer when asked for its version') : 'not installed';
    terminal.line(`${name.padEnd(18)}${told}`);
    terminal.line(`${' '.repeat(18)}${installed ? where : `to install: ${where}`}`);
    if (installed) terminal.line(`${' '.repeat(18)}can: ${abilities.map(([ability]) => words(ability)).join(', ')}`);
  }
}

/** As the daemon that works here finds them; where none does, as they are found from this shell. */
async function found(env: NodeJS.ProcessEnv, root: string): Promise<AgentView[]> {
  const daemon = await reachDaemon(env);
  const [project] = (await daemon?.api.projects({ root })) ?? [];
  if (daemon && project) return daemon.api.agents({ project: project.id });
  const { discoverAgents } = await import('../agents/discover.ts');
  return discoverAgents(root);
}

const words = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
