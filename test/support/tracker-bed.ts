import { personActor, type Task, type TrackerItem } from '@tidemill/contract';
import { afterEach } from 'vitest';
import type { EngineDeps, FollowedTracker } from '../../packages/daemon/src/engine/deps.ts';
import { takeByHand } from '../../packages/daemon/src/engine/tracker/take-item.ts';
import { EngineBed, quickAgent, silentAgent } from './engine-bed.ts';
import { SimTracker } from './sim-tracker.ts';

/** The real engine that follows a tracker, on a virtual clock. */
export class TrackerBed {
  readonly bed: EngineBed;
  readonly tracker: SimTracker;
  readonly followed: FollowedTracker;
  isWorking = false;

  private constructor(bed: EngineBed, tracker: SimTracker, followed: FollowedTracker) {
    this.bed = bed;
    this.tracker = tracker;
    this.followed = followed;
  }

  static async open(
    tracker = new SimTracker(),
    change: Partial<FollowedTracker> = {},
    deps: Partial<EngineDeps> = {},
  ): Promise<TrackerBed> {
    const followed = {
      tracker,
      trust: 'push' as const,
      pollMs: 20_000,
      offersProposals: true,
      closes: true,
      ...change,
    };
    const made: { whole?: TrackerBed } = {};
    const bed = await EngineBed.open({}, (self) => ({
      tracker: followed,
      agentFor: () => (made.whole?.isWorking ? quickAgent(() => self.repository) : silentAgent),
      ...deps,
    }));
    made.whole = new TrackerBed(bed, tracker, followed);
    return made.whole;
  }

  async tasks(): Promise<Task[]> {
    return this.bed.store.tasks({ projectId: this.bed.projectId });
  }

  items(): Promise<TrackerItem[]> {
    return this.bed.store.records({ noun: 'tracker_item', projectId: this.bed.projectId });
  }

  /** Open alerts about the tracker. */
  async alerts(): Promise<string[]> {
    return (await this.bed.alerts()).filter((alert) => alert.includes(' tracker'));
  }

  /** A person takes an item. `hash`: what the person has seen. */
  async take(number: number, hash?: string): Promise<void> {
    const { store, projectId } = this.bed;
    const item = await store.record('tracker_item', `tracker/${projectId}/sim:board#${number}`);
    const ids = { next: (kind: string) => `${kind}_by_hand_${number}` };
    await takeByHand({ store, ids, project: { id: projectId } }, item!, personActor('ada'), hash);
  }

  /** Until everything that was planned is read and written. */
  async settle(ms = 60_000): Promise<void> {
    await this.bed.pass(ms);
  }
}

type Args = Parameters<typeof TrackerBed.open>;

/** For a test file: beds that are closed after each test. */
export function trackerBeds() {
  const made: TrackerBed[] = [];
  afterEach(async () => {
    for (const each of made.splice(0)) await each.bed.close();
  });
  const begin = async (...args: Args): Promise<TrackerBed> => {
    const one = await TrackerBed.open(...args);
    made.push(one);
    return one;
  };
  /** Started, and has read its tracker once. */
  const started = async (...args: Args): Promise<TrackerBed> => {
    const one = await begin(...args);
    await one.bed.start();
    await one.settle(1_000);
    return one;
  };
  return { begin, started };
}
