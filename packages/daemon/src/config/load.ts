import { hash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AppError,
  type Config,
  type EnvironmentRules,
  type GateConfig,
  gateSeverity,
  type Pipeline,
  type ProjectRules,
} from '@tidemill/contract';
import { strictest } from '@tidemill/core';
import { CONFIG_FILE, checkSettings, gateNames, problemText, type Settings } from './check.ts';

/** A project's settings, completely validated. */
export async function loadSettings(root: string): Promise<Settings> {
  const { settings, problems } = await checkSettings(root, await read(root));
  if (settings) return settings;
  throw new AppError('bad_config', problems.map(problemText).join('\n'), {
    hint: `Fix ${problems.some(({ line }) => line !== null) ? CONFIG_FILE : 'the file'} and try again.`,
  });
}

export function rulesFrom(config: Config, pipelines: Record<string, Pipeline>): ProjectRules {
  return {
    target: config.target,
    defaultPipeline: config.pipeline,
    // A gate that only warns is not required for landing.
    gates: gateNames(config.gates.filter((gate) => gateSeverity(gate) === 'block')),
    gateConfigs: Object.fromEntries(config.gates.map((gate) => [gate.name, gateHash(config, gate)])),
    pipelines,
    reviewPlans: config.reviewPlans,
    maxValidationRetries: config.maxValidationRetries,
    critical: config.critical,
    ...(config.source.length > 0 ? { source: config.source } : {}),
    hilConfig: config.hilConfig,
    routing: config.routing,
    budget: { ...config.budget, timeZone: config.budget.timeZone ?? ownTimeZone() },
    loop: config.loop,
    learning: config.learning,
    specs: { buildLimitMs: config.specs.buildLimit, critic: config.specs.critic },
    ...(config.delivery.environments.length > 0 ? { delivery: environmentRules(config) } : {}),
  };
}

const environmentRules = ({ delivery, hilConfig }: Config): EnvironmentRules[] =>
  delivery.environments.map(({ name, when, approve, after, health, rollback, repeatable }) => ({
    name,
    when,
    approve: approve ?? strictest(hilConfig),
    after: after ?? null,
    hasHealth: health !== undefined,
    hasRollback: rollback.length > 0,
    repeatable,
  }));

/** Covers everything that decides what a gate does and finds, including the steps that prepare its checkout. */
function gateHash({ prepare, include }: Config, { proves: _proves, parallel, ...gate }: GateConfig): string {
  const settings = parallel ? { ...gate, parallel } : gate;
  return hash('sha256', JSON.stringify([settings, prepare, include]));
}

async function read(root: string): Promise<string> {
  try {
    return await readFile(join(root, CONFIG_FILE), 'utf8');
  } catch (cause) {
    throw new AppError('bad_config', `there is no ${CONFIG_FILE} in ${root}`, {
      hint: 'Run `tidemill init` in the repository to create one.',
      cause,
    });
  }
}

/** The same as Node's result. Reads a file's link where possible, because the first use of `Intl` is slow. */
function ownTimeZone(): string {
  const ask = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (process.env.TZ) return ask();
  try {
    const zone = /\/zoneinfo\/([A-Z]\w*\/[\w/+-]+)$/.exec(readlinkSync('/etc/localtime'))?.[1];
    return zone === undefined ? ask() : zone === 'Etc/UTC' ? 'UTC' : zone;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return ask();
  }
}
