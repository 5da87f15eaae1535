import { type OpenItem, type Tracker, TrackerError } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** A tracker has limits, and its list changes slowly. */
const FRESH_MS = 300_000;

const READ = new WeakMap<Tracker, { at: number; items: readonly OpenItem[] }>();

/**
 * The open items of the project's tracker that are not tasks here. Work does not wait for a tracker in trouble: the loop goes on
 * with what was read last.
 */
export async function openItems({
  tracker: followed,
  store,
  project,
  clock,
  onNote,
}: Pick<EngineDeps, 'tracker' | 'store' | 'project' | 'clock' | 'onNote'>): Promise<readonly OpenItem[]> {
  if (!followed) return [];
  const { tracker } = followed;
  const known = await store.records({ noun: 'tracker_item', projectId: project.id });
  const taken = new Set(known.flatMap(({ key, taskId }) => (taskId === null ? [] : (key ?? []))));
  let read = READ.get(tracker);
  if (!read || clock.now() - read.at >= FRESH_MS) {
    read = { at: clock.now(), items: await readItems(tracker, read?.items ?? [], onNote) };
    READ.set(tracker, read);
  }
  return read.items.filter(({ key }) => !taken.has(key));
}

async function readItems(
  tracker: Tracker,
  before: readonly OpenItem[],
  onNote: EngineDeps['onNote'],
): Promise<readonly OpenItem[]> {
  try {
    return await tracker.openItems();
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    onNote(`the open items of ${tracker.name} cannot be read, so proposals are compared without new ones`, error);
    return before;
  }
}
