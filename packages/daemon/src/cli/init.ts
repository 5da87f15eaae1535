import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { SpecSummary } from '@tidemill/contract';
import { isBesideCode } from '@tidemill/core';
import type { Command } from 'commander';
import { namedDataFolder } from '../config/data-folder.ts';
import { initProject } from '../config/init.ts';
import { inspectRepository } from '../git/repository.ts';
import { type AgentChoice, chooseAgent } from './agent-choice.ts';
import { connect } from './connect.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';
import { personName } from './person.ts';
import type { Terminal } from './terminal.ts';

interface InitOptions extends Json {
  agent?: string;
  target?: string;
  testAgent?: boolean;
  check: boolean;
  /** True without a text. */
  plan?: string | boolean;
}

export function addInit(program: Command, context: CliContext): void {
  program
    .command('init')
    .description('write .tidemill/config.yaml for the repository you are in')
    .option('--agent <name>', 'an agent from `tidemill agents`, or a command such as "./my-agent --flag"')
    .option('--target <branch>', 'the branch that finished work lands on (default: the current one)')
    .option('--test-agent', 'run a small task with the agent, which costs a request or a few')
    .option('--no-check', 'do not run the gates on the target')
    .option('--plan [text]', 'have an agent propose the skeleton, the gates and the first features')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill init\n  tidemill init --agent codex --test-agent\n  tidemill init --agent "node tools/agent.mjs"\n  tidemill init --plan "A tool that renames photos by their date"',
    )
    .action((options: InitOptions) => init(context, options));
}

type Written = Awaited<ReturnType<typeof initProject>>;

async function init(context: CliContext, options: InitOptions): Promise<void> {
  const { cwd, env, terminal } = context;
  const info = await inspectRepository(cwd);
  // With a detached HEAD, the most likely branch comes first in the list.
  const target = options.target ?? info.currentBranch ?? info.branches[0] ?? 'main';
  const agent = await chooseAgent(info.root, cwd, options.agent);
  const { auditTrial } = await import('../assembly/audit-trial.ts');
  const asked = { agent: agent.config, install: agent.install, auditAnswers: auditTrial(info.root) };
  const result = await initProject({ root: info.root, target, ...asked });
  const { setupWarnings } = await import('../assembly/setup-warnings.ts');
  const own = { ...namedDataFolder(env), store: env.DATABASE_URL ? undefined : null };
  result.warnings.push(...(await setupWarnings(info.root, own)));
  if (options.json) {
    const trial = options.testAgent ? await (await trials()).runTrial(context, info.root, 'default') : undefined;
    const plan = options.plan ? await requestPlan(context, info.root, options.plan) : undefined;
    const isChecked = isCheckable(result, options);
    const checked = isChecked ? await (await targetChecks()).runTargetCheck(context, info.root) : undefined;
    return terminal.json({
      root: info.root,
      ...result,
      ...(checked ? { checked } : {}),
      ...(trial ? { trial } : {}),
      ...(plan ? { plan } : {}),
    });
  }
  showResult(terminal, info.root, cwd, result);
  if (result.written) showAgent(terminal, agent);
  for (const warning of result.warnings) terminal.line(terminal.paint('yellow', `  ${warning}`));
  terminal.line();
  if (isCheckable(result, options))
    await (await targetChecks()).showTargetCheck(context, info.root, plannedCheck(result));
  const isReady = !result.written || agent.install === null;
  const isTested = isReady && (options.testAgent ?? (result.written && (await isWanted(terminal, agent.label))));
  if (isTested) await (await trials()).testAgent(context, info.root, 'default', options);
  if (isTested) terminal.line();
  const plan = options.plan ? await requestPlan(context, info.root, options.plan) : null;
  if (plan) terminal.line(`S${plan.number} requested: with \`tidemill up\`, an agent plans the repository.\n`);
  else if (await isEmpty(info.root))
    terminal.line('The repository is empty. An agent can plan it: tidemill init --plan "What it should become"\n');
  terminal.line('Nothing was committed. Review the file, then run:');
  if (isReady && !isTested) terminal.line('  tidemill agents test default   # a small task shows that the agent works');
  if (!plan) terminal.line('  tidemill task add "What should be done" --accept "How you know it is done"');
  terminal.line('  tidemill up');
}

const isEmpty = async (root: string) => (await readdir(root)).every(isBesideCode);

/** Requests the first specification of the repository. */
async function requestPlan({ env }: CliContext, root: string, plan: string | true): Promise<SpecSummary> {
  const { api, close } = await connect(env);
  try {
    const project = await api.registerProject({ root });
    const text = plan === true ? {} : { text: plan };
    return await api.newSpec({ project: project.id, by: personName(process.env), from: 'initializer', ...text });
  } finally {
    await close();
  }
}

/** Only a command can fail on the target. A config that exists is checked by `up`. */
const isCheckable = ({ written, gates }: Written, { check }: InitOptions) =>
  check && written && gates.some(({ kind }) => kind === undefined);

const plannedCheck = ({ target, prepare, gates }: Written) => ({
  target,
  commands: [...prepare, ...gates].flatMap(({ run }) => (run === '' ? [] : [run])),
});

/** Loaded only where gates run. */
const targetChecks = () => import('./target-check.ts');

/** Loaded only for a test: it contains an engine. */
const trials = () => import('./agent-trial.ts');

const LOOKS_FOR: Record<string, string> = {
  secrets: 'keys in the change',
  docs: 'undocumented public names in the change; it only warns',
  ci: 'the checks on GitHub',
};

function showResult(terminal: Terminal, root: string, cwd: string, result: Written): void {
  const { file, written, prepare, include, source, gates, tools } = result;
  const place = root === cwd ? file : `${root}/${file}`;
  terminal.line(written ? `${place} written.` : `${place} already exists and was not changed.`);
  terminal.line(`  work lands on ${result.target}`);
  for (const step of prepare) terminal.line(`  prepare: ${step.run}`);
  if (source.length > 0) terminal.line(`  source: ${source.join(', ')}`);
  if (include.length > 0) terminal.line(`  include: ${include.join(', ')}`);
  for (const { name, run, kind } of gates) terminal.line(`  gate ${name}: ${run || (LOOKS_FOR[kind ?? ''] ?? '')}`);
  if (written && tools.length > 0) terminal.line(`  found: ${tools.join(', ')}`);
}

function showAgent(terminal: Terminal, { label, install, others }: AgentChoice): void {
  const more = others.length > 0 ? `; also installed: ${others.join(', ')}` : '';
  const text = `No coding agent is installed. Install ${label}: ${install}. A demo works without one: tidemill demo`;
  terminal.line(install === null ? `  agent: ${label}${more}` : terminal.paint('yellow', `  ${text}`));
}

/** A test costs money, so a person is asked. Without a terminal nobody can agree. */
async function isWanted(terminal: Terminal, label: string): Promise<boolean> {
  if (!terminal.isLive || !process.stdin.isTTY) return false;
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  try {
    // At the end of the input nobody answers.
    const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
    const asked = prompt.question(`Test ${label} with a small task now? It costs a request or a few. [y/N] `);
    return /^y(es)?$/i.test((await Promise.race([asked, closed])).trim());
  } finally {
    prompt.close();
  }
}
