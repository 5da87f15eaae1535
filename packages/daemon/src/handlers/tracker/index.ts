import {
  AppError,
  type Project,
  type RouteRequest,
  type TrackerItem,
  type TrackerItemView,
  type TrackerView,
} from '@tidemill/contract';
import { takeByHand } from '../../engine/tracker/take-item.ts';
import type { Services } from '../context.ts';
import { projectOf, unwrap } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';

const EXCERPT = 400;

export const trackerHandlers: Handlers<'tracker'> = {
  tracker: showTracker,
  trackerItems: listItems,
  syncTracker,
  takeItem,
  refuseItem,
};

async function showTracker(services: Services, input: RouteRequest<'tracker'>): Promise<TrackerView> {
  return viewTracker(services, await projectOf(services, input.project));
}

async function listItems(services: Services, input: RouteRequest<'trackerItems'>): Promise<TrackerItemView[]> {
  const { id: projectId } = await projectOf(services, input.project);
  const all = await services.store.records({ noun: 'tracker_item', projectId });
  const wanted = all
    .filter(({ status }) => input.status === undefined || status === input.status)
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(0, input.limit);
  return viewItems(services, wanted);
}

async function syncTracker(services: Services, input: Signed<'syncTracker'>): Promise<TrackerView> {
  const project = await projectOf(services, input.project);
  await services.engines.of(project).tracker.sync();
  return viewTracker(services, project);
}

async function takeItem(services: Services, input: Signed<'takeItem'>): Promise<TrackerItemView> {
  const project = await projectOf(services, input.project);
  const { store, ids } = services;
  const item = await itemOf(services, project, input.item);
  await takeByHand({ store, ids, project }, item, input.by, input.hash);
  return viewAgain(services, item);
}

async function refuseItem(services: Services, input: Signed<'refuseItem'>): Promise<TrackerItemView> {
  const project = await projectOf(services, input.project);
  const item = await itemOf(services, project, input.item);
  const { why, by } = input;
  unwrap(
    await services.store.execute({ type: 'tracker_item.refuse', projectId: project.id, itemId: item.id, why, by }),
  );
  return viewAgain(services, item);
}

async function viewTracker(services: Services, project: Project): Promise<TrackerView> {
  const all = await services.store.records({ noun: 'tracker_item', projectId: project.id });
  const waiting = all.filter((item) => item.status === 'waiting' || item.waiting === 'edited');
  return {
    ...services.engines.of(project).tracker.state(),
    items: all.length,
    waiting: await viewItems(services, waiting.slice(0, 100)),
  };
}

/** `12`, `#12`, a file's name, or the whole key. */
async function itemOf({ store }: Services, project: Project, ref: string): Promise<TrackerItem> {
  const all = await store.records({ noun: 'tracker_item', projectId: project.id });
  const wanted = ref.trim().replace(/^#/, '');
  const found = all.filter(({ id, key }) => id === ref || key === ref || (key !== null && nameIn(key) === wanted));
  if (found.length === 1) return found[0]!;
  const hint = '`tidemill tracker items` lists them.';
  if (found.length === 0) throw new AppError('not_found', `there is no item "${ref}" of the tracker`, { hint });
  throw new AppError('bad_input', `several items are called "${ref}": ${found.map(({ key }) => key).join(', ')}`, {
    hint: 'Name one by its whole key.',
  });
}

const nameIn = (key: string) => key.slice(key.indexOf('#') + 1);

async function viewAgain(services: Services, { id }: TrackerItem): Promise<TrackerItemView> {
  const [view] = await viewItems(services, [(await services.store.record('tracker_item', id))!]);
  return view!;
}

async function viewItems({ store }: Services, items: TrackerItem[]): Promise<TrackerItemView[]> {
  const numbers = await store.taskNumbers(items.flatMap(({ taskId }) => taskId ?? []));
  return items.map(({ id, key, url, author, isTrusted, status, waiting, why, error, seen, taskId }) => ({
    ...{ id, key, url, author, isTrusted, status, waiting, why, error },
    name: key === null ? '(not there yet)' : key.startsWith('github:') ? `#${nameIn(key)}` : nameIn(key),
    title: seen?.title ?? '',
    excerpt: (seen?.body ?? '').slice(0, EXCERPT),
    hash: seen?.hash ?? null,
    taskNumber: taskId === null ? null : (numbers.get(taskId) ?? null),
  }));
}
