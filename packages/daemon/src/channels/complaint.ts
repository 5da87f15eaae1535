import { engineActor } from '@tidemill/contract';
import { alertId } from '@tidemill/core';
import type { Clock, Store } from '../ports.ts';
import type { Lane } from './lane.ts';
import type { ChannelTrouble } from './trouble.ts';

/** So long a channel may be away before it is worth a word. */
const WORTH_A_WORD_MS = 10 * 60_000;
const KIND = 'channel';

/** The alert about a channel itself, which that channel is not told of. */
export const complaintOf = ({ project, name }: Lane) => alertId(project.id, KIND, name);

/** One word about a channel that needs a person, or stays away for long; every other channel and the inbox get it. */
export async function complain(
  { store, clock }: { store: Store; clock: Clock },
  lane: Lane,
  trouble: ChannelTrouble,
): Promise<void> {
  const isLong = lane.downSince !== null && clock.now() - lane.downSince >= WORTH_A_WORD_MS;
  if (trouble.kind !== 'denied' && !isLong) return;
  const known = await store.record('alert', complaintOf(lane));
  if (known?.acknowledgedAt === null) return;
  const text = `The channel ${lane.name} does not deliver: ${trouble.message}${trouble.hint && ` ${trouble.hint}`}`;
  const severity = trouble.kind === 'denied' ? 'error' : 'warning';
  const about = { projectId: lane.project.id, taskId: null, kind: KIND, subject: lane.name };
  await store.execute({ type: 'alert.raise', ...about, severity, text });
}

/** It delivers again: nobody needs to see to it any more. */
export async function takeBack({ store }: { store: Store }, lane: Lane): Promise<void> {
  lane.recovered();
  const known = await store.record('alert', complaintOf(lane));
  if (known?.acknowledgedAt !== null) return;
  await store.execute({
    type: 'alert.acknowledge',
    projectId: lane.project.id,
    alertId: known.id,
    by: engineActor('delivery'),
  });
}
