import type { Command } from 'commander';
import { inspectRepository } from '../git/repository.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';

export function addAgents(program: Command, context: CliContext): void {
  program
    .command('agents')
    .description('agents that are installed here, and what each can do')
    .option(...jsonOption)
    .addHelpText('after', '\nAny other program can be an agent too: see the README, "Plug in any agent".')
    .action((options: Json) => list(context, options));
}

async function list({ cwd, terminal }: CliContext, options: Json): Promise<void> {
  const { discoverAgents } = await import('../agents/discover.ts');
  const root = await inspectRepository(cwd).then(
    (info) => info.root,
    () => cwd,
  );
  const agents = await discoverAgents(root);
  if (options.json) return terminal.json(agents);
  for (const { name, installed, version, where, can } of agents) {
    const abilities = Object.entries(can).filter(([, has]) => has);
    const told = version ?? (installed ? 'does not tell its version' : 'not installed');
    terminal.line(`${name.padEnd(18)}${told}`);
    terminal.line(`${' '.repeat(18)}${installed ? where : `to install: ${where}`}`);
    if (installed) terminal.line(`${' '.repeat(18)}can: ${abilities.map(([ability]) => words(ability)).join(', ')}`);
  }
}

const words = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
