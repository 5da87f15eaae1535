import {
  type AgentView,
  AppError,
  actorOf,
  type ConfigCheck,
  type ConfigText,
  type Project,
  type RouteRequest,
  type SavedConfig,
} from '@tidemill/contract';
import { CONFIG_FILE, checkSettings, problemText } from '../../config/check.ts';
import { type ConfigFile, readConfigFile } from '../../config/config-file.ts';
import { gitWith } from '../../git/program.ts';
import type { Call, Services } from '../context.ts';
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
export async function saveConfig(
  services: Services,
  input: RouteRequest<'saveConfig'>,
  _signal: AbortSignal,
  { caller }: Call,
): Promise<SavedConfig> {
  const project = await projectOf(services, input.project);
  const { root } = project;
  const { problems, warnings } = await checkSettings(root, input.text, services.machine.absenceOf);
  if (problems.length > 0)
    throw new AppError('bad_config', problems.map(problemText).join('\n'), {
      hint: 'Nothing was saved. Correct it and try again.',
    });
  const saved = await services.repositories.configSaves.save(root, input.text, input.hash);
  const outcome = await commitConfig(services, project, saved.text, actorOf(caller, 'a person').name);
  return { ...(await textOf(root, saved, warnings)), ...outcome };
}

/** The saved file is in effect, whether it can be committed or not. */
async function commitConfig(
  { repositories }: Services,
  project: Project,
  text: string,
  by: string,
): Promise<Pick<SavedConfig, 'isCommitted' | 'outcome'>> {
  const message = `Change the settings of Tidemill\n\nSaved by ${by}.\n`;
  try {
    const done = await repositories.withWorkspace(project, (workspace) =>
      workspace.commitFile(CONFIG_FILE, text, message),
    );
    if (done.kind === 'left') return { isCommitted: false, outcome: `Saved. Not committed: ${done.why}.` };
    const { target } = project.rules;
    const outcome = done.kind === 'committed' ? `Saved and committed to ${target}.` : `Saved, as it is on ${target}.`;
    return { isCommitted: true, outcome };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { isCommitted: false, outcome: `Saved. Not committed: ${error.message.split('\n')[0]}.` };
  }
}

export async function listAgents(services: Services, input: RouteRequest<'agents'>): Promise<AgentView[]> {
  const root =
    input.project === undefined ? services.machine.folder.path : (await projectOf(services, input.project)).root;
  return services.machine.agents(root);
}

async function textOf(root: string, { text, hash }: ConfigFile, warnings: string[]): Promise<ConfigText> {
  const told = (await isUncommitted(root))
    ? [...warnings, `${CONFIG_FILE} has changes that are not committed: other clones do not have them`]
    : warnings;
  return { path: CONFIG_FILE, text, hash, warnings: [...new Set(told)] };
}

async function isUncommitted(root: string): Promise<boolean> {
  const { stdout } = await gitWith({ cwd: root })(['status', '--porcelain', '-uno', '--', CONFIG_FILE]);
  return stdout.trim() !== '';
}
