import { type AgentView, AppError, type ConfigCheck, type ConfigText, type RouteRequest } from '@tidemill/contract';
import { CONFIG_FILE, checkSettings, problemText } from '../../config/check.ts';
import { type ConfigFile, readConfigFile } from '../../config/config-file.ts';
import { gitWith } from '../../git/program.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

/** The file is the person's own and versioned: it is shown as it stands, also when it is wrong. */
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

/** Who works on the project follows the file by itself. */
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
    ? [...warnings, `${CONFIG_FILE} is not committed: work does not land in this checkout before it is`]
    : warnings;
  return { path: CONFIG_FILE, text, hash, warnings: [...new Set(told)] };
}

/** A file that git does not know yet stands in nobody's way. */
async function isUncommitted(root: string): Promise<boolean> {
  const { stdout } = await gitWith({ cwd: root })(['status', '--porcelain', '-uno', '--', CONFIG_FILE]);
  return stdout.trim() !== '';
}
