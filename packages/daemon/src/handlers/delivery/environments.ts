import {
  type Delivery,
  type EnvironmentRules,
  type EnvironmentView,
  environmentId,
  isBusyDelivery,
  type Project,
  type RouteRequest,
} from '@tidemill/contract';
import { contentsOf, newestLanded } from '../../engine/delivery/contents.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';
import { viewOf } from './view.ts';

/** In the order of the settings; then those that are no longer in the settings and still have something. */
export async function listEnvironments(
  services: Services,
  input: RouteRequest<'environments'>,
): Promise<EnvironmentView[]> {
  const project = await projectOf(services, input.project);
  const known = project.rules.delivery ?? [];
  const rows = await services.store.records({ noun: 'environment', projectId: project.id });
  const gone = rows.filter(({ name, live }) => live && !known.some((each) => each.name === name));
  return [
    ...(await Promise.all(known.map((rules) => environmentView(services, project, rules)))),
    ...gone.map(({ name, live, state }) => ({ ...BARE, name, live, state, isGone: true })),
  ];
}

const BARE = {
  when: 'manual',
  approve: 'requires_approval',
  after: null,
  hasHealth: false,
  hasRollback: false,
  repeatable: false,
  current: null,
  waiting: null,
  next: null,
} as const;

async function environmentView(
  services: Services,
  project: Project,
  rules: EnvironmentRules,
): Promise<EnvironmentView> {
  const { store } = services;
  const parent = environmentId(project.id, rules.name);
  const [row, open] = await Promise.all([
    store.record('environment', parent),
    store.records({ noun: 'delivery', parent, isOpen: true }),
  ]);
  const show = async (delivery: Delivery | undefined) => (delivery ? viewOf(services, delivery) : null);
  return {
    ...rules,
    live: row?.live ?? null,
    state: row?.state ?? 'empty',
    current: await show(open.find(isBusyDelivery)),
    waiting: await show(open.find((each) => !isBusyDelivery(each))),
    next: await nextOf(services, project, rules, row?.live?.commit ?? null),
    isGone: false,
  };
}

/** What a delivery without a named commit would bring. Null when the environment has it already. */
async function nextOf(
  services: Services,
  project: Project,
  rules: EnvironmentRules,
  live: string | null,
): Promise<EnvironmentView['next']> {
  const { store, repositories } = services;
  const commit = await defaultCommit(services, project, rules);
  if (commit === null || commit === live) return null;
  const contents = await repositories.withWorkspace(project, (workspace) =>
    contentsOf({ projectId: project.id, store, workspace }, live, commit),
  );
  return { commit, ...contents };
}

/** What landed last; after an earlier environment, what is healthy there. */
export async function defaultCommit(
  { store }: Pick<Services, 'store'>,
  { id: projectId }: Project,
  { after }: EnvironmentRules,
): Promise<string | null> {
  if (after === null) return newestLanded({ projectId, store });
  const row = await store.record('environment', environmentId(projectId, after));
  return row?.state === 'healthy' ? (row.live?.commit ?? null) : null;
}
