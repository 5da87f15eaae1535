import { open } from 'node:fs/promises';
import {
  AppError,
  type CutText,
  DELIVERY_ANSWERS,
  type Delivery,
  type DeliveryView,
  deliveryRef,
  environmentId,
  isBusyDelivery,
  type Project,
  type RouteRequest,
} from '@tidemill/contract';
import { environmentOf, unknownEnvironment } from '@tidemill/core';
import { contentsOf } from '../../engine/delivery/contents.ts';
import type { Services } from '../context.ts';
import { numbered, projectOf, taskOf, unwrap } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';
import { removalText } from '../record/removed-log.ts';
import { defaultCommit, listEnvironments } from './environments.ts';
import { showReleaseNotes } from './release.ts';
import { viewOf } from './view.ts';

export const deliveryHandlers: Handlers<'deliveries'> = {
  environments: listEnvironments,
  deliveries: listDeliveries,
  delivery: showDelivery,
  deliveryLog: showLog,
  deliver,
  approveDelivery,
  stopDelivery,
  rollBack,
  releaseNotes: showReleaseNotes,
};

async function listDeliveries(services: Services, input: RouteRequest<'deliveries'>): Promise<DeliveryView[]> {
  const project = await projectOf(services, input.project);
  const { environment, limit } = input;
  const about = input.task === undefined ? null : await taskOf(services, project, input.task);
  const all = await services.store.records({
    noun: 'delivery',
    projectId: project.id,
    ...(environment === undefined ? {} : { parent: environmentId(project.id, environment) }),
  });
  const found = all.filter(({ tasks }) => about === null || tasks.some(({ taskId }) => taskId === about.id));
  const newest = found.sort((a, b) => b.number - a.number).slice(0, limit);
  return Promise.all(newest.map((delivery) => viewOf(services, delivery)));
}

async function showDelivery(services: Services, input: RouteRequest<'delivery'>): Promise<DeliveryView> {
  const project = await projectOf(services, input.project);
  return viewOf(services, await numbered(services, project, 'delivery', input.delivery));
}

/** The end of the output is what matters when it is long. */
async function showLog(services: Services, input: RouteRequest<'deliveryLog'>): Promise<CutText> {
  const project = await projectOf(services, input.project);
  const { id } = await numbered(services, project, 'delivery', input.delivery);
  try {
    await using handle = await open(services.machine.folder.deliveryLog(id), 'r');
    const { size } = await handle.stat();
    const length = Math.min(size, input.maxBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return { text: buffer.toString('utf8', 0, bytesRead), isCut: size > length };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const removed = await removalText(services, 'deliveries', id);
    return { text: removed === null ? '' : `The output was ${removed}.`, isCut: false };
  }
}

async function deliver(services: Services, input: Signed<'deliver'>): Promise<DeliveryView> {
  const project = await projectOf(services, input.project);
  const { environment, override = null, approve } = input;
  const rules = environmentOf(project, environment);
  if (!rules) throw refusal(unknownEnvironment(project, environment));
  const commit = input.commit ?? (await defaultCommit(services, project, rules));
  if (commit === null)
    throw new AppError('conflict', rules.after ? `${rules.after} has nothing healthy yet` : 'nothing has landed yet', {
      hint: rules.after
        ? `Run \`tidemill deliver ${rules.after}\` first.`
        : 'Tasks land when the daemon runs: tidemill up',
    });
  const order = { environment, cause: 'manual' as const, commit, override, isApproved: approve };
  return request(services, project, { ...order, by: input.by });
}

const refusal = ({ refusal: { code, message, hint } }: ReturnType<typeof unknownEnvironment>) =>
  new AppError(code, message, { hint });

interface Order {
  environment: string;
  cause: Delivery['cause'];
  commit: string;
  override: string | null;
  isApproved: boolean;
  by: Signed<'deliver'>['by'];
}

async function request(services: Services, project: Project, order: Order): Promise<DeliveryView> {
  const { store, repositories, ids } = services;
  const { environment, cause, override, isApproved, by } = order;
  const parent = environmentId(project.id, environment);
  const [row, open_] = await Promise.all([
    store.record('environment', parent),
    store.records({ noun: 'delivery', parent, isOpen: true }),
  ]);
  const about = await repositories.withWorkspace(project, async (workspace) => {
    const commit = await workspace.commitNamed(order.commit);
    if (commit === null || !(await workspace.isLanded(commit)))
      throw new AppError('bad_input', `${order.commit} is not a commit on ${project.rules.target}`, {
        hint: 'Only what has landed is delivered. `tidemill history` lists it.',
      });
    const tree = await workspace.treeOf(commit);
    const live = row?.live?.commit ?? null;
    return { commit, tree, ...(await contentsOf({ projectId: project.id, store, workspace }, live, commit)) };
  });
  const deliveryId = ids.next('delivery');
  const isReplaced = (each: Delivery) =>
    !isBusyDelivery(each) || each.status === 'asking' || each.status === 'rollback_failed';
  const replaces = open_.filter(isReplaced).map(({ id }) => id);
  const more = { cause, specId: null, override, isApproved, replaces, by };
  unwrap(
    await store.execute({
      type: 'delivery.request',
      projectId: project.id,
      deliveryId,
      environment,
      ...about,
      ...more,
    }),
  );
  return viewOf(services, (await store.record('delivery', deliveryId))!);
}

/** Answers its question, so that there is one way in which a delivery is approved. */
async function approveDelivery(services: Services, input: Signed<'approveDelivery'>): Promise<DeliveryView> {
  const project = await projectOf(services, input.project);
  const delivery = await numbered(services, project, 'delivery', input.delivery);
  const ref = deliveryRef(delivery.number);
  if (input.commit !== undefined && !delivery.commit.startsWith(input.commit))
    throw new AppError('conflict', `${ref} is of ${delivery.commit.slice(0, 10)}, not of ${input.commit}`, {
      hint: 'Look at it again before you approve it.',
    });
  const { store } = services;
  const open_ = await store.records({ noun: 'question', parent: delivery.id, isOpen: true });
  const question = open_.find(({ effect }) => effect.kind === 'delivery' && effect.about === 'approval');
  if (delivery.status !== 'waiting' || !question)
    throw new AppError('conflict', `${ref} does not wait for approval: it is ${delivery.status.replaceAll('_', ' ')}`);
  const text = input.approved ? DELIVERY_ANSWERS.approve : DELIVERY_ANSWERS.decline;
  const about = { projectId: project.id, taskId: null, subjectId: delivery.id, questionId: question.id };
  unwrap(await store.execute({ type: 'question.answer', ...about, text, source: 'user', by: input.by }));
  return viewOf(services, (await store.record('delivery', delivery.id))!);
}

async function stopDelivery(services: Services, input: Signed<'stopDelivery'>): Promise<DeliveryView> {
  const project = await projectOf(services, input.project);
  const { id, environment } = await numbered(services, project, 'delivery', input.delivery);
  const about = { projectId: project.id, deliveryId: id, environment };
  unwrap(await services.store.execute({ type: 'delivery.stop', ...about, by: input.by }));
  return viewOf(services, (await services.store.record('delivery', id))!);
}

/** To the commit that was healthy before the present one. A person asks for it, so it needs no further approval. */
async function rollBack(services: Services, input: Signed<'rollBack'>): Promise<DeliveryView> {
  const project = await projectOf(services, input.project);
  const { environment, by } = input;
  const parent = environmentId(project.id, environment);
  const [row, all] = await Promise.all([
    services.store.record('environment', parent),
    services.store.records({ noun: 'delivery', parent }),
  ]);
  const healthy = all.filter(({ status }) => status === 'healthy').sort((a, b) => b.number - a.number);
  const present = row?.state === 'healthy' ? row.live?.commit : undefined;
  const earlier = healthy.find(({ commit }) => commit !== present);
  if (!environmentOf(project, environment)) throw refusal(unknownEnvironment(project, environment));
  if (!earlier)
    throw new AppError('conflict', `there is no earlier healthy commit in ${environment} to go back to`, {
      hint: `\`tidemill deliver history ${environment}\` shows what was delivered there.`,
    });
  const order = { environment, cause: 'rollback' as const, commit: earlier.commit, override: null, isApproved: true };
  return request(services, project, { ...order, by });
}
