import { type AgentView, AppError, type ConfigCheck, type ConfigText, type RouteRequest } from '@tidemill/contract';
import { CONFIG_FILE, checkSettings, problemText } from '../../config/check.ts';
import { type ConfigFile, readConfigFile } from '../../config/config-file.ts';
import { gitWith } from '../../git/program.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

/** The file belongs to the person and is versioned, so it is shown unchanged, even when it is invalid. */
export async function showConfig(services: Services, input: RouteRequest<'config'>): Promise<ConfigText> {
  const project = await projectOf(services, input.project);
  const { root } = project;
  const file = await readConfigFile(root);
  const { warnings } = await checkSettings(root, file.text, services.machine.absenceOf);
  return textOf(root, file, [...warnings, ...services.engines.of(project).warnings]);
}

export async function checkConfig(services: Services, input: RouteRequest<'checkConfig'>): Promise<ConfigCheck> {
  const { root } = await projectOf(services, input.project);
  const { problems, warnings } = await checkSettings(root, input.text, services.machine.absenceOf);
  return { problems, warnings };
}

/** A running engine follows the file itself. */
export async function saveConfig(services: Services, input: RouteRequest<'saveConfig'>): Promise<ConfigText> {
  const { root } = await projectOf(services, input.project);
  const { problems, warnings } = await checkSettings(root, input.text, services.machine.absenceOf);
  if (problems.length > 0)
    throw new AppError('bad_config', problems.map(problemText).join('\n'), {
      hint: 'Nothing was saved. Correct it and try again.',
    });
  return textOf(root, await services.repositories.configSaves.save(root, input.text, input.hash), warnings);
}

export async function listAgents(services: Services, input: RouteRequest<'agents'>): Promise<AgentView[]> {
  const root =
    input.project === undefined ? services.machine.folder.path : (await projectOf(services, input.project)).root;
  return services.machine.agents(root);
}

async function textOf(root: string, { text, hash }: ConfigFile, warnings: string[]): Promise<ConfigText> {
  const told = (await isUncommitted(root))
    ? [...warnings, `${CONFIG_FILE} is not committed: no work lands in this checkout until it is`]
    : warnings;
  return { path: CONFIG_FILE, text, hash, warnings: [...new Set(told)] };
}

/** An untracked file does not prevent landing. */
async function isUncommitted(root: string): Promise<boolean> {
  const { stdout } = await gitWith({ cwd: root })(['status', '--porcelain', '-uno', '--', CONFIG_FILE]);
  return stdout.trim() !== '';
}
