import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AppError, type Project, ProjectRules, type RouteRequest } from '@tidemill/contract';
import type { Settings } from '../../config/check.ts';
import { loadSettings, rulesFrom } from '../../config/load.ts';
import { firstCommit } from '../../git/project-mark.ts';
import { rootOf } from '../../git/repository.ts';
import type { Services } from '../context.ts';
import { projectOf, unwrap } from '../find.ts';
import { identityOf, settleIdentity } from './identity.ts';

export async function listProjects(services: Services, input: RouteRequest<'projects'>) {
  if (input.root === undefined) return services.store.projects();
  const there = await services.store.projectByRoot(input.root);
  // A moved repository is found by its mark. Its root is updated when work on it starts.
  const project = there ?? (await identityOf(services.store, input.root)).known;
  return project ? [project] : [];
}

export async function registerProject(services: Services, input: RouteRequest<'registerProject'>) {
  const known = await services.store.projectByRoot(input.root);
  // A daemon that works on it follows the config itself, including gates and agents.
  if (known && services.engines.of(known).isRunning) return known;
  return (await saveProject(services, input.root)).project;
}

export async function attachProject(services: Services, input: RouteRequest<'attachProject'>) {
  // Other problems are found when its workspace is opened.
  return services.engines.attach(await rootOf(input.root), input.workers, input.takeOver);
}

/** Updates the project in the store from its config file. `root` is the resolved top folder of the repository. */
export async function saveProject(
  { store }: Pick<Services, 'store'>,
  root: string,
  given?: Settings,
): Promise<{ project: Project; settings: Settings }> {
  const [settings, identity] = await Promise.all([given ?? loadSettings(root), identityOf(store, root)]);
  const rules = rulesFrom(settings.config, settings.pipelines);
  const { id: projectId, known } = identity;
  await settleIdentity(store, root, identity);
  if (!known) {
    const about = { name: basename(root), root, firstCommit: await firstCommit(root) };
    const reply = await store.execute({ type: 'project.register', projectId, ...about, rules });
    if (!reply.ok && reply.refusal.code !== 'conflict') unwrap(reply);
  } else if (!isDeepStrictEqual(known.rules, ProjectRules.parse(rules))) {
    unwrap(await store.execute({ type: 'project.configure', projectId, rules }));
  }
  return { project: await projectOf({ store }, projectId), settings };
}

export function refuseWithoutDaemon(what: string): never {
  throw new AppError('daemon_unreachable', `no daemon is running, so there is nothing to ${what}`, {
    hint: 'Start one with `tidemill up`.',
  });
}
