import { REACTORS, type TrackerItem } from '@tidemill/contract';
import type { ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { TrackerLink } from '../tracker/link.ts';
import { TrackerReader } from '../tracker/sync.ts';
import type { StandingCondition } from './standing-alerts.ts';

/** Without a tracker, the settings are looked at when they change. */
const FAR_MS = 3_600_000;
const MOST_TOLD = 5;

/** Reads the tracker: every few seconds, and at once when it is woken. */
export class TrackerSync implements RoutedReactor {
  readonly name = 'tracker-sync';
  readonly projectId: string;
  readonly on = REACTORS['tracker-sync'].on;
  readonly atOnce = 100;
  readonly #deps: EngineDeps;
  readonly #link: TrackerLink;
  readonly #reader: TrackerReader;

  constructor(deps: EngineDeps, link: TrackerLink) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#link = link;
    this.#reader = new TrackerReader(deps);
  }

  async handle(call: ReactorCall): Promise<void> {
    // A person has decided about an item that waited.
    if (call.cause === 'events') return this.#tell();
    await this.read(false);
    call.tickIn(Math.max(this.#link.followed?.pollMs ?? FAR_MS, this.#link.pauseMs));
  }

  /** Returns whether the tracker could be read. */
  async read(isUrgent: boolean): Promise<boolean> {
    const { store, clock } = this.#deps;
    const before = await store.lastSeq();
    const { faults } = this.#reader;
    const wasRead = await this.#link.use(async (followed) => {
      await this.#reader.read(followed);
      this.#link.syncedAt = clock.now();
    }, isUrgent);
    const isNews = !this.#isTold || faults !== this.#reader.faults || (await store.lastSeq()) !== before;
    if (this.#link.followed && isNews) await this.#tell();
    return wasRead;
  }

  /** What people wrote about the item of a task before its first run. */
  async readFirst(taskId: string, isInTime: () => boolean): Promise<void> {
    await this.#link.use(({ tracker }) => this.#reader.comments.readFirst(tracker, taskId, isInTime));
  }

  #isTold = false;

  async #tell(): Promise<void> {
    const { store } = this.#deps;
    const waiting = await store.records({ noun: 'tracker_item', projectId: this.projectId, isOpen: true });
    const faults = [...this.#reader.faults].slice(0, MOST_TOLD).map(faultCondition);
    await this.#link.tell({ waiting: [...waitingCondition(waiting.filter(needsPerson)), ...faults] });
    this.#isTold = true;
  }
}

const faultCondition = ([key, why]: [string, string]): StandingCondition => ({
  ...{ kind: 'tracker_item', subject: key, severity: 'warning' },
  text: `${key} cannot be read, so it is no task: ${why}`,
});

const needsPerson = ({ waiting }: TrackerItem) => waiting === 'untrusted' || waiting === 'edited';

function waitingCondition(items: TrackerItem[]): StandingCondition[] {
  if (items.length === 0) return [];
  const names = items.slice(0, 3).map(({ key, author }) => `${key} by ${author}`);
  const more = items.length > 3 ? ` and ${items.length - 3} more` : '';
  return [
    {
      ...{ kind: 'tracker_item', subject: 'waiting', severity: 'info' },
      text: `Written by people without push access, so no work has started: ${names.join(', ')}${more}. \`tidemill tracker\` lists them; \`tidemill tracker take\` starts one.`,
    },
  ];
}
