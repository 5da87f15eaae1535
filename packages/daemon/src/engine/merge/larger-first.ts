import { isReady, landingOrder } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

/**
 * Of two tasks that will conflict, the larger lands first. A claim sees to that among tasks that are due. Tasks that
 * waited for the same obstacle become due one after the other: then a smaller one that is due first waits once more.
 * Returns true when it waits.
 */
export async function waitForLarger({ store, clock }: EngineDeps, leased: LeasedTask): Promise<boolean> {
  const { waiting, forecast, projectId } = leased.task;
  const ids = forecast.flatMap(({ taskId }) => taskId ?? []);
  if (waiting === null || ids.length === 0) return false;
  const others = (await store.tasks({ projectId, ids })).filter(
    (other) => isReady(other) && other.role === 'merger' && other.waiting === waiting,
  );
  const [first] = landingOrder([leased.task, ...others]);
  if (!first || first.id === leased.task.id) return false;
  const untilMs = Math.max(1, first.notBefore - clock.now() + 1);
  const why = `#${first.number} is larger and will conflict with it, so it lands first`;
  await leased.must({ type: 'stage.wait', why, untilMs, isPassing: true });
  return true;
}
