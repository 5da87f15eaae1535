import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AppError, type Project, ProjectRules, type RouteRequest } from '@tidemill/contract';
import type { Settings } from '../../config/check.ts';
import { loadSettings, rulesFrom } from '../../config/load.ts';
import { rootOf } from '../../git/repository.ts';
import type { Services } from '../context.ts';
import { projectOf, unwrap } from '../find.ts';

export async function listProjects(services: Services, input: RouteRequest<'projects'>) {
  if (input.root === undefined) return services.store.projects();
  const project = await services.store.projectByRoot(input.root);
  return project ? [project] : [];
}

export async function registerProject(services: Services, input: RouteRequest<'registerProject'>) {
  const known = await services.store.projectByRoot(input.root);
  // The daemon that works on it follows its config by itself, gates and agents included.
  if (known && services.engines.of(known).isRunning) return known;
  return (await saveProject(services, input.root)).project;
}

export async function attachProject(services: Services, input: RouteRequest<'attachProject'>) {
  // What else could keep it from being worked on is found when its workspace is opened.
  return services.engines.attach(await rootOf(input.root), input.workers);
}

/** Brings the store's view of a repository in line with its config file. `root` is the repository's own, resolved. */
export async function saveProject(
  { store }: Pick<Services, 'store'>,
  root: string,
  settings?: Settings,
): Promise<{ project: Project; settings: Settings }> {
  settings ??= await loadSettings(root);
  const rules = rulesFrom(settings.config, settings.pipelines);
  const known = await store.projectByRoot(root);
  // Derived from the root, so that two processes that register the same repository at once mean the same project.
  const projectId = known?.id ?? `project_${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  if (!known) {
    const reply = await store.execute({ type: 'project.register', projectId, name: basename(root), root, rules });
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
