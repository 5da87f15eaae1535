import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, type Config, type Pipeline, type ProjectRules } from '@tidemill/contract';
import { CONFIG_FILE, checkSettings, gateNames, problemText, type Settings } from './check.ts';

/** A project's settings, checked as a whole: what is returned can be worked with. */
export async function loadSettings(root: string): Promise<Settings> {
  const { settings, problems } = await checkSettings(root, await read(root));
  if (settings) return settings;
  throw new AppError('bad_config', problems.map(problemText).join('\n'), {
    hint: `Correct ${problems.some(({ line }) => line !== null) ? CONFIG_FILE : 'the file'} and try again.`,
  });
}

export function rulesFrom(config: Config, pipelines: Record<string, Pipeline>): ProjectRules {
  return {
    target: config.target,
    defaultPipeline: config.pipeline,
    gates: gateNames(config.gates),
    pipelines,
    reviewPlans: config.reviewPlans,
    critical: config.critical,
    hilConfig: config.hilConfig,
    budget: { ...config.budget, timeZone: config.budget.timeZone ?? ownTimeZone() },
  };
}

async function read(root: string): Promise<string> {
  try {
    return await readFile(join(root, CONFIG_FILE), 'utf8');
  } catch (cause) {
    throw new AppError('bad_config', `there is no ${CONFIG_FILE} in ${root}`, {
      hint: 'Run `tidemill init` in the repository to make one.',
      cause,
    });
  }
}

const ownTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
