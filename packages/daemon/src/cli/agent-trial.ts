import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AgentConfig, AppError, nearest } from '@tidemill/contract';
import type { TrialReport, TrialStep } from '../assembly/trial-report.ts';
import { CONFIG_FILE } from '../config/check.ts';
import { openDataFolder } from '../config/data-folder.ts';
import { loadSettings } from '../config/load.ts';
import type { CliContext, Json } from './context.ts';
import { EXIT } from './failure.ts';
import { oneLine, type Terminal, took } from './terminal.ts';

/** `tidemill agents test NAME`. */
export async function testAgent(context: CliContext, root: string, name: string, options: Json): Promise<void> {
  const { terminal } = context;
  const report = await runTrial(context, root, name, options.json ? undefined : terminal);
  if (options.json) terminal.json(report);
  else show(report, terminal);
}

/** With a terminal, the agent's output is shown on it. A failed trial is the command's failure. */
export async function runTrial(
  context: CliContext,
  root: string,
  name: string,
  terminal?: Terminal,
): Promise<TrialReport> {
  const { env } = context;
  const entry = await entryNamed(name, root);
  const { tryAgent } = await import('../assembly/agent-trial.ts');
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, stop);
  try {
    const dataDir = openDataFolder(env).path;
    terminal?.line(`Running a small task with ${name} in a temporary repository …\n`);
    const onOutput = (chunk: string) => void terminal?.err.write(terminal.paint('dim', chunk));
    const report = await tryAgent({ name, root, dataDir, ...entry, signal: stopping.signal, onOutput });
    if (!report.ok) context.setExitCode(EXIT.failure);
    return report;
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

/** Looks in the project's settings first, then in the agents that Tidemill knows by name. */
async function entryNamed(name: string, root: string): Promise<{ config: AgentConfig; sandbox: 'auto' | 'off' }> {
  const settings = existsSync(join(root, CONFIG_FILE)) ? (await loadSettings(root)).config : null;
  const sandbox = settings?.sandbox ?? 'auto';
  const configured = settings?.agents[name];
  if (configured) return { config: configured, sandbox };
  const { discoverAgents } = await import('../agents/discover.ts');
  const found = await discoverAgents(root);
  const known = found.find((agent) => agent.name === name);
  if (known) return { config: AgentConfig.parse(known.config), sandbox };
  const entries = Object.keys(settings?.agents ?? {});
  const guess = nearest(name, [...entries, ...found.map((agent) => agent.name)]);
  const those = `Built in: ${found.map((agent) => agent.name).join(', ')}.`;
  const own = entries.length > 0 ? `In ${CONFIG_FILE}: ${entries.join(', ')}. ` : '';
  throw new AppError('not_found', `there is no agent "${name}"`, {
    hint: guess ? `Did you mean ${guess}? ${own}${those}` : `${own}${those}`,
  });
}

function show({ agent, label, steps, failure, durationMs }: TrialReport, terminal: Terminal): void {
  const { line, paint } = terminal;
  const mark = (step: TrialStep) =>
    step.ok === null ? paint('dim', '-   ') : step.ok ? paint('green', 'ok  ') : paint('red', 'no  ');
  line();
  for (const step of steps) line(`${mark(step)}${step.name.padEnd(19)}${oneLine(step.text)}`);
  line(`    ${'time'.padEnd(19)}${took(durationMs)}`);
  line();
  line(`${agent} (${label}) ${failure === null ? 'works.' : `${paint('red', 'failed')}: ${failure.class}`}`);
  if (failure === null) return;
  for (const words of failure.message.split('\n')) line(`  ${oneLine(words)}`);
  if (failure.hint) line(`  ${failure.hint}`);
}
