import type { Task, TrackerItem } from '@tidemill/contract';
import type { EngineDeps, FollowedTracker } from '../../packages/daemon/src/engine/deps.ts';
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
    return this.bed.store.records({ noun: 'trackerItem', projectId: this.bed.projectId });
  }

  /** Until everything that was planned is read and written. */
  async settle(ms = 60_000): Promise<void> {
    await this.bed.pass(ms);
  }
}
