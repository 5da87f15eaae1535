import {
  type AccountView,
  ALL_PROJECTS,
  AppError,
  accountId,
  actorOf,
  type Project,
  type RouteRequest,
} from '@tidemill/contract';
import { budgetAccountOf, viewAccount } from '@tidemill/core';
import { isTimeZone } from '../../config/safe-values.ts';
import type { Call, Services } from '../context.ts';
import { projectOf, unwrap } from '../find.ts';

/** The account of each project, then the one of all projects. */
export async function showBudget(services: Services): Promise<AccountView[]> {
  const projects = await services.store.projects();
  return Promise.all([...projects, null].map((project) => accountView(services, project)));
}

/** Fields that are not given stay unchanged. */
export async function limitBudget(
  services: Services,
  input: RouteRequest<'limitBudget'>,
  _signal: AbortSignal,
  { caller }: Call,
): Promise<AccountView> {
  const { store, clock, machine } = services;
  const { id: projectId } = await projectOf(services, input.project);
  if (input.timeZone !== undefined && !isTimeZone(input.timeZone))
    throw new AppError('bad_input', `there is no time zone "${input.timeZone}"`, {
      hint: 'For example Europe/Berlin.',
    });
  const id = accountId(ALL_PROJECTS);
  const { limits: current } = budgetAccountOf(
    null,
    (await store.record('account', id)) ?? undefined,
    clock.now(),
    machine.calendars,
  );
  const { dailyUsd = current.dailyUsd, monthlyUsd = current.monthlyUsd, timeZone = current.timeZone } = input;
  const limits = { dailyUsd, monthlyUsd };
  const by = actorOf(caller, 'person');
  unwrap(await store.execute({ type: 'budget.limit', projectId, accountId: id, limits, timeZone, by }));
  return accountView(services, null);
}

export async function accountView({ store, clock, machine }: Services, project: Project | null): Promise<AccountView> {
  const now = clock.now();
  try {
    const stored = await store.record('account', accountId(project?.id ?? ALL_PROJECTS));
    return viewAccount(project, stored, now, machine.calendars);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'store_failed') throw error;
    // The others can still be shown. This account allows no spending until it is repaired.
    const stopped = `The account cannot be read: ${error.message.split('\n')[0]} ${error.hint}`;
    return { ...viewAccount(project, null, now, machine.calendars), stopped };
  }
}
