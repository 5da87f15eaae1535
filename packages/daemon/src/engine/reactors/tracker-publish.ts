import { REACTORS, type TrackerItem } from '@tidemill/contract';
import type { ReactorCall, RoutedReactor, Tracker } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { TrackerLink } from '../tracker/link.ts';
import { TrackerWriter } from '../tracker/publish.ts';
import type { StandingCondition } from './standing-alerts.ts';

/** A state that was refused is tried again after this time, or with the next change of its task. */
const REFUSED_MS = 600_000;
const MOST_TOLD = 5;

/** Writes to the tracker what became of its tasks. What could not be written waits; after a restart the rows say it. */
export class TrackerPublish implements RoutedReactor {
  readonly name = 'tracker-publish';
  readonly projectId: string;
  readonly on = REACTORS['tracker-publish'].on;
  readonly atOnce = 100;
  readonly #link: TrackerLink;
  readonly #writer: TrackerWriter;
  /** Tasks whose item is still to be written. */
  readonly #left = new Set<string>();
  /** Items whose state the tracker did not accept, by task. */
  readonly #refused = new Map<string, TrackerItem>();
  #of: Tracker | null = null;

  constructor(deps: EngineDeps, link: TrackerLink) {
    this.projectId = deps.project.id;
    this.#link = link;
    this.#writer = new TrackerWriter(deps);
  }

  async handle(call: ReactorCall): Promise<void> {
    const { followed } = this.#link;
    if (!followed) {
      this.#of = null;
      return this.#left.clear();
    }
    if (this.#of !== followed.tracker || call.cause === 'start')
      for (const taskId of await this.#writer.unsettled()) this.#left.add(taskId);
    this.#of = followed.tracker;
    if (call.cause === 'events') for (const { body } of call.events) for (const id of tasksOf(body)) this.#left.add(id);
    if (call.cause === 'tick') for (const taskId of this.#refused.keys()) this.#left.add(taskId);
    if (!(await this.#write())) call.tickIn(Math.max(this.#link.pauseMs, 1_000));
    else if (this.#refused.size > 0) call.tickIn(REFUSED_MS);
  }

  /** Writes the state of one task now. */
  async claim(taskId: string): Promise<void> {
    await this.#link.use(async (followed) => {
      await this.#writer.write(followed, taskId);
    });
  }

  /** Returns false when the tracker is in trouble. */
  async #write(): Promise<boolean> {
    const before = [...this.#refused.values()].map(({ error }) => error).join('\n');
    for (const taskId of [...this.#left]) {
      const isDone = await this.#link.use(async (followed) => {
        const refused = await this.#writer.write(followed, taskId);
        if (refused) this.#refused.set(taskId, refused);
        else this.#refused.delete(taskId);
      });
      if (!isDone) return false;
      this.#left.delete(taskId);
    }
    const refused = [...this.#refused.values()];
    if (refused.map(({ error }) => error).join('\n') !== before)
      await this.#link.tell({ refused: refused.slice(0, MOST_TOLD).map(refusedCondition) });
    return true;
  }
}

const refusedCondition = ({ key, id, error }: TrackerItem): StandingCondition => ({
  ...{ kind: 'tracker_item', subject: key ?? id, severity: 'warning' },
  text: `The state of the task could not be written to ${key ?? 'the tracker'}: ${error}. The task itself goes on.`,
});

/** Events name a task, or the subject of a lease. */
function tasksOf(body: object): string[] {
  const named = ['taskId' in body ? body.taskId : null, 'subjectId' in body ? body.subjectId : null];
  return named.filter((id) => typeof id === 'string');
}
