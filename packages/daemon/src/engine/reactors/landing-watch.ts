import { REACTORS } from '@tidemill/contract';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { executeAccepted } from '../flows/atomic.ts';
import { StandingAlerts } from './standing-alerts.ts';

const LOOK_AGAIN_MS = 5_000;
/** A shorter wait is not worth an alert: somebody is committing. */
const ALERT_AFTER_MS = 60_000;

/**
 * Watches what keeps finished work from landing: a dirty checkout, a file in the way. The tasks themselves look only now
 * and then; this looks every few seconds, writes nothing, and wakes them when the checkout is clean.
 *
 *   a landing waits ──▶ looks every 5 s ──after a minute──▶ one alert ──it landed──▶ the alert is closed
 */
export class LandingWatch implements Reactor {
  readonly name = 'landings';
  readonly projectId: string;
  readonly on = REACTORS.landings.on;
  readonly #deps: EngineDeps;
  readonly #alerts: StandingAlerts;
  /** Since when each task waits, and why. */
  readonly #waits = new Map<string, { since: number; why: string }>();
  /** The checkout was in the way when it was last looked at. */
  #isInTheWay = false;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#alerts = new StandingAlerts(deps, ['landing_waits'], ({ text }) => text);
  }

  async handle(call: ReactorCall): Promise<void> {
    const now = this.#deps.clock.now();
    for (const { body } of call.cause === 'events' ? call.events : [])
      if (body.type === 'task.waiting' && body.isLanding)
        this.#waits.set(body.taskId, { since: this.#waits.get(body.taskId)?.since ?? now, why: body.why });
    if (call.cause === 'events' && this.#waits.size === 0) return;
    await this.#forgetLanded();
    if (this.#waits.size > 0) {
      await this.#look(now);
      call.tickIn(LOOK_AGAIN_MS);
    } else {
      this.#isInTheWay = false;
      await this.#alerts.settle([]);
    }
  }

  /** Those that landed, went back or were cancelled. A claimed one is being tried again. */
  async #forgetLanded(): Promise<void> {
    if (this.#waits.size === 0) return;
    const tasks = await this.#deps.store.tasks({ projectId: this.projectId, ids: [...this.#waits.keys()] });
    for (const id of this.#waits.keys()) {
      const task = tasks.find((each) => each.id === id);
      if (task?.role !== 'merger' || (task.waiting === null && !task.lease)) this.#waits.delete(id);
    }
  }

  async #look(now: number): Promise<void> {
    const obstacle = await this.#deps.workspace.landingObstacle();
    const wasInTheWay = this.#isInTheWay;
    this.#isInTheWay = obstacle !== null;
    if (wasInTheWay && obstacle === null) return this.#wake();
    const late = [...this.#waits].filter(([, { since }]) => now - since >= ALERT_AFTER_MS);
    const [first] = late;
    if (!first || (obstacle === null && (await this.#isToldElsewhere(first[1].why)))) return;
    const { target } = this.#deps.project.rules;
    const what = late.length === 1 ? 'A finished task' : `${late.length} finished tasks`;
    const text = `${what} cannot land on ${target}: ${obstacle ?? first[1].why}. Nothing is lost. It lands by itself when this is done.`;
    const taskId = late.length === 1 ? first[0] : null;
    await this.#alerts.settle([{ kind: 'landing_waits', subject: '', severity: 'error', text, taskId }]);
  }

  /** A remote that refuses or diverged has its own alert, with the same text. */
  async #isToldElsewhere(why: string): Promise<boolean> {
    const open = await this.#deps.store.records({ noun: 'alert', projectId: this.projectId, isOpen: true });
    return open.some(({ text }) => text === why.slice(0, text.length));
  }

  /** All at once, so that the next claim chooses among all of them. */
  async #wake(): Promise<void> {
    const { projectId } = this;
    const commands = [...this.#waits.keys()].map((taskId) => ({ type: 'task.wake', projectId, taskId }) as const);
    await executeAccepted(this.#deps.store, commands);
  }
}
