import type { Command } from 'commander';
import { initProject } from '../config/init.ts';
import { inspectRepository } from '../git/repository.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';

export function addInit(program: Command, context: CliContext): void {
  program
    .command('init')
    .description('write .tidemill/config.yaml for the repository you are in')
    .option('--agent <command>', 'the command that runs the agent, such as "./my-agent --flag"')
    .option('--target <branch>', 'the branch that finished work lands on (default: the current one)')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill init\n  tidemill init --agent "node tools/agent.mjs"')
    .action((options: Json & { agent?: string; target?: string }) => init(context, options));
}

async function init({ cwd, terminal }: CliContext, options: Json & { agent?: string; target?: string }): Promise<void> {
  const info = await inspectRepository(cwd);
  // With a detached HEAD, the most likely branch comes first in the list.
  const target = options.target ?? info.currentBranch ?? info.branches[0] ?? 'main';
  const { discoverAgents } = await import('../agents/discover.ts');
  const found = options.agent ? undefined : (await discoverAgents(info.root)).find(({ installed }) => installed);
  const result = await initProject({ root: info.root, target, agent: options.agent, found: found?.config });
  if (options.json) return terminal.json({ root: info.root, ...result });
  const { file, written, prepare, include, gates, tools, warnings } = result;
  terminal.line(written ? `${file} written.` : `${file} already exists and was not changed.`);
  terminal.line(`  work lands on ${result.target}`);
  if (written && found) terminal.line(`  agent: ${found.name}${found.version ? ` (${found.version})` : ''}`);
  for (const step of prepare) terminal.line(`  prepare: ${step.run}`);
  if (include.length > 0) terminal.line(`  include: ${include.join(', ')}`);
  for (const gate of gates) terminal.line(`  gate ${gate.name}: ${gate.run}`);
  if (written && tools.length > 0) terminal.line(`  found: ${tools.join(', ')}`);
  for (const warning of warnings) terminal.line(terminal.paint('yellow', `  ${warning}`));
  terminal.line();
  terminal.line('Nothing was committed. Review the file, then run:');
  terminal.line('  tidemill task add "What should be done" --accept "How you know it is done"');
  terminal.line('  tidemill up');
}
