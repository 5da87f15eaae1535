import { isOpenAlert } from '@tidemill/contract';
import { alertId } from '@tidemill/core';
import type { Clock, Store } from '../ports.ts';
import type { ChannelError } from './channel-error.ts';
import type { Lane } from './lane.ts';

/** A channel that is down for longer raises an alert. */
const ALERT_AFTER_MS = 10 * 60_000;
const KIND = 'channel' as const;

/** The alert about a channel; it is not sent to that channel. */
export const channelAlertId = ({ project, name }: Lane) => alertId(project.id, KIND, name);

/** Raises one alert for a channel that needs a person or stays down. The inbox and all other channels get it. */
export async function raiseChannelAlert(
  { store, clock }: { store: Store; clock: Clock },
  lane: Lane,
  error: ChannelError,
): Promise<void> {
  const isLong = lane.downSince !== null && clock.now() - lane.downSince >= ALERT_AFTER_MS;
  if (error.kind !== 'denied' && !isLong) return;
  const known = await store.record('alert', channelAlertId(lane));
  if (known && isOpenAlert(known)) return;
  const text = `The channel ${lane.name} does not deliver: ${error.message}${error.hint && ` ${error.hint}`}`;
  const severity = error.kind === 'denied' ? 'error' : 'warning';
  const about = { projectId: lane.project.id, taskId: null, kind: KIND, subject: lane.name };
  await store.execute({ type: 'alert.raise', ...about, severity, text });
}

/** Closes the alert when the channel delivers again. */
export async function clearChannelAlert({ store }: { store: Store }, lane: Lane): Promise<void> {
  lane.recovered();
  const known = await store.record('alert', channelAlertId(lane));
  if (!known || !isOpenAlert(known)) return;
  await store.execute({ type: 'alert.resolve', projectId: lane.project.id, kind: KIND, subject: lane.name });
}
