import {
  type Delivery,
  type DeliveryEnvironment,
  deliveryRef,
  type EventBody,
  isBusyDelivery,
  isChangingStep,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { askAfterCrash, askAfterRollback } from './ask.ts';
import { about, alertAbout, environmentAfter, findDelivery, liveOf, ownDelivery } from './find.ts';
import { environmentOf, lacksAfter } from './rules.ts';

/** The intention: recorded before the first command runs, so that a crash is noticed and nothing is run twice blindly. */
export function beginDelivery(slice: Slice, command: CommandOf<'delivery.begin'>): Decision {
  const found = findDelivery(slice, command);
  if (!found.ok) return found;
  const { delivery } = found;
  const project = slice.projects.get(command.projectId)!;
  const ref = deliveryRef(delivery.number);
  if (delivery.status === 'running' && delivery.owner === command.owner) return accept();
  if (delivery.status !== 'requested') return refuse('conflict', `${ref} is ${delivery.status}, and cannot begin`);
  const { environment } = delivery;
  const busy = slice
    .list('openRecordsOf', `environment/${command.projectId}/${environment}`)
    .find((each) => each.noun === 'delivery' && each.id !== delivery.id && isBusyDelivery(each));
  if (busy?.noun === 'delivery')
    return refuse('conflict', `${deliveryRef(busy.number)} is on its way to ${environment}`, 'wait for its end');
  const rules = environmentOf(project, environment);
  if (!rules) {
    const why = `${environment} is no longer in the settings`;
    return accept({ type: 'delivery.ended', ...about(delivery), status: 'cancelled', why, now: null });
  }
  const isExempt = delivery.cause === 'rollback' || Boolean(delivery.override?.after);
  const missing = isExempt ? null : lacksAfter(slice, project, rules, delivery.commit);
  if (missing !== null) {
    const why = `${missing} is no longer healthy with ${delivery.commit.slice(0, 10)}`;
    return accept({ type: 'delivery.ended', ...about(delivery), status: 'cancelled', why, now: null });
  }
  const row = slice.record('environment', `environment/${command.projectId}/${environment}`);
  return accept(moved(delivery, 'running', { owner: command.owner, previous: row?.live ?? null }));
}

/** Another process carries it on. The step that was cut short is marked. */
export function takeDelivery(slice: Slice, command: CommandOf<'delivery.take'>): Decision {
  const found = findDelivery(slice, command);
  if (!found.ok) return found;
  const { delivery } = found;
  if (delivery.owner === command.owner) return accept();
  if (delivery.owner !== command.from || !isBusyDelivery(delivery))
    return refuse('conflict', `${deliveryRef(delivery.number)} was taken by another process, or has ended`);
  const isCut = delivery.steps.at(-1)?.result === 'running';
  return accept(...(isCut ? [interrupted(delivery)] : []), {
    type: 'delivery.taken',
    ...about(delivery),
    owner: command.owner,
  });
}

const interrupted = (delivery: Delivery): EventBody => ({
  type: 'delivery.step_ended',
  ...about(delivery),
  result: 'interrupted',
  note: 'the daemon ended while it ran',
});

const NEXT: Partial<Record<Delivery['status'], readonly Delivery['status'][]>> = {
  running: ['checking', 'rolling_back', 'asking', 'running'],
  checking: ['rolling_back', 'asking', 'running'],
  rolling_back: ['rollback_failed', 'rolling_back'],
};

export function moveDelivery(slice: Slice, command: CommandOf<'delivery.move'>, env: DecideEnv): Decision {
  const { to, why, owner, help = '' } = command;
  const found = ownDelivery(slice, command);
  if (!found.ok) return isRepeated(slice, command, { status: to, why }) ? accept() : found;
  const { delivery } = found;
  if (delivery.status === 'checking' && to === 'checking') return accept();
  if (!NEXT[delivery.status]?.includes(to))
    return refuse('conflict', `${deliveryRef(delivery.number)} cannot go from ${delivery.status} to ${to}`);
  const project = slice.projects.get(command.projectId)!;
  const next: Delivery = { ...delivery, why };
  if (to === 'asking')
    return accept(
      moved(delivery, to, { owner: null, why, now: environmentAfter(delivery, 'unknown', delivery.previous) }),
      ...askAfterCrash(slice, project, next, help, env),
    );
  if (to === 'rollback_failed') {
    const now = environmentAfter(delivery, 'unknown', delivery.previous);
    const ref = deliveryRef(delivery.number);
    const text = `${ref} to ${delivery.environment} failed, and its rollback failed too: ${why}. Its question says which commands to run by hand.`;
    return accept(
      moved(delivery, to, { owner: null, why, now }),
      alertAbout(delivery, 'rollback_failed', 'error', text),
      ...askAfterRollback(slice, project, next, help, env),
    );
  }
  return accept(moved(delivery, to, { owner, why }));
}

/** It has no owner any more because the same write took effect before, and its answer was lost. */
function isRepeated(
  slice: Slice,
  { deliveryId }: { deliveryId: string },
  { status, why }: Pick<Delivery, 'status' | 'why'>,
): boolean {
  const delivery = slice.record('delivery', deliveryId);
  return delivery?.owner === null && delivery.status === status && delivery.why === why;
}

export function endDelivery(slice: Slice, command: CommandOf<'delivery.end'>, env: DecideEnv): Decision {
  const { status, why } = command;
  const found = ownDelivery(slice, command);
  if (!found.ok) return isRepeated(slice, command, { status, why }) ? accept() : found;
  const { delivery } = found;
  const isFitting =
    status === 'rolled_back' ? delivery.status === 'rolling_back' : ['running', 'checking'].includes(delivery.status);
  if (!isFitting)
    return refuse('conflict', `${deliveryRef(delivery.number)} is ${delivery.status}, and cannot end as ${status}`);
  return accept(...ended(delivery, status, why, env));
}

/** The end, what the environment has then, and the alert about it. */
export function ended(
  delivery: Delivery,
  status: 'healthy' | 'failed' | 'rolled_back',
  why: string,
  env: Pick<DecideEnv, 'now'>,
): EventBody[] {
  const name = `${deliveryRef(delivery.number)} to ${delivery.environment}`;
  const end = (now: DeliveryEnvironment | null): EventBody => ({
    type: 'delivery.ended',
    ...about(delivery),
    status,
    why,
    now,
  });
  switch (status) {
    case 'healthy':
      return [end(environmentAfter(delivery, 'healthy', liveOf(delivery, env.now)))];
    case 'rolled_back': {
      const back = delivery.previous ? ` It has ${delivery.previous.commit.slice(0, 10)} again.` : '';
      return [
        end(environmentAfter(delivery, 'healthy', delivery.previous)),
        alertAbout(delivery, 'delivery_rolled_back', 'error', `${name} failed and was rolled back: ${why}.${back}`),
      ];
    }
    case 'failed':
      return [
        end(hasTouched(delivery) ? environmentAfter(delivery, 'unknown', delivery.previous) : null),
        alertAbout(delivery, 'delivery_failed', 'error', `${name} failed: ${why}`),
      ];
  }
}

/** Something was run that may have changed the environment. */
const hasTouched = ({ steps }: Delivery) => steps.some(isChangingStep);

/** The event that changes its status. */
export const moved = (
  delivery: Delivery,
  status: Delivery['status'],
  {
    owner,
    why = '',
    previous = delivery.previous,
    now = null,
  }: {
    owner: string | null;
    why?: string;
    previous?: Delivery['previous'];
    now?: DeliveryEnvironment | null;
  },
): EventBody => ({ type: 'delivery.moved', ...about(delivery), status, why, owner, previous, now });
