import {
  isOpenAlert,
  type LoggedEvent,
  type Notification,
  type NotifySettings,
  type Project,
} from '@tidemill/contract';
import { channelsFor, SAME_MATTER_MS } from '@tidemill/core';
import type { Clock, OpenChannel, OwnWrites, Reactor, ReactorCall, ReactorHandle, Reactors, Store } from '../ports.ts';
import { channelAlertId, clearChannelAlert, raiseChannelAlert } from './channel-alert.ts';
import { ChannelError } from './channel-error.ts';
import { Lane, messageOf, nextTryAt } from './lane.ts';
import { Lines } from './lines.ts';
import { type Matter, notificationOf } from './matter.ts';
import { FOLLOWED, matterOf, needsPerson, openMatters } from './matter-source.ts';

export interface DeliveryDeps {
  store: Store;
  clock: Clock;
  open: OpenChannel;
  reactors: Reactors;
  onNote(text: string, error?: unknown): void;
}

const PAUSE_AFTER_FAILURE_MS = 5000;
const STOP_GRACE_MS = 1000;

/**
 *   question, alert, task that needs a person ──▶ one notification per channel (in the store) ──▶ message ──▶ settled
 * A notification stays queued until it is delivered. Its id is computed from its matter. So after a crash, attaching a
 * project queues everything that is open there, and what is already queued keeps its id.
 */
export class ChannelDelivery implements Reactor {
  readonly name = 'notifications';
  readonly projectId = null;
  readonly on = FOLLOWED;
  readonly atOnce = 500;
  /** Raises alerts about channels, and delivers alerts. */
  readonly own: OwnWrites;
  readonly #deps: DeliveryDeps;
  readonly #lanes = new Map<string, Lane>();
  readonly #settings = new Map<string, { project: Project; settings: NotifySettings }>();
  readonly #lines: Lines;
  /** When a matter was last queued for a lane. */
  readonly #lastAt = new Map<string, number>();
  readonly #stopped = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #after: number | null = null;
  #handle: ReactorHandle | null = null;

  constructor(deps: DeliveryDeps) {
    this.own = deps.reactors.watchWrites(deps.store, FOLLOWED);
    this.#deps = { ...deps, store: this.own.store };
    this.#lines = new Lines(this.#deps, this.#stopped.signal, (lane, error) =>
      raiseChannelAlert(this.#deps, lane, error),
    );
  }

  /** Adds a project, or applies its changed settings. A project without channels costs nothing. */
  async attach(project: Project, settings: NotifySettings): Promise<void> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    for (const [key, lane] of this.#lanes) if (lane.project.id === project.id) this.#lanes.delete(key);
    this.#settings.set(project.id, { project, settings });
    const lanes = Object.keys(settings.channels).map((name) => new Lane(project, name, settings));
    this.#lines.connect(project.id, lanes);
    if (lanes.length === 0) return;
    this.#after ??= await store.lastSeq();
    for (const lane of lanes) this.#lanes.set(keyOf(project.id, lane.name), lane);
    // The person may have fixed the cause before this start.
    for (const pending of await store.records({ noun: 'notification', projectId: project.id, isOpen: true }))
      this.#lanes
        .get(keyOf(project.id, pending.channel))
        ?.put(pending.attempts > 0 ? { ...pending, nextAt: now } : pending);
    for await (const matter of openMatters(store, project, now)) await this.#queue(project, matter);
    this.#handle ??= this.#deps.reactors.add(this, this.#after);
    this.#handle.wake();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#handle?.stop();
    const grace = new AbortController();
    const all = Promise.all([...this.#sending, this.#lines.close()]).finally(() => grace.abort());
    await Promise.race([all, this.#deps.clock.sleep(STOP_GRACE_MS, grace.signal)]);
  }

  /** Sends in the tick after the last of several events, so that related notifications form one message. */
  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'events') {
      await Promise.all(call.events.map((event) => this.#takeEvent(event)));
      call.tickIn(1);
      return;
    }
    const waitMs = this.#startSending();
    if (waitMs !== null) call.tickIn(waitMs);
  }

  async #takeEvent(event: LoggedEvent): Promise<void> {
    const project = this.#settings.get(event.projectId)?.project;
    const matter = project && (await matterOf(this.#deps.store, project, event));
    if (matter) await this.#queue(project, matter);
  }

  async #queue(project: Project, matter: Matter): Promise<void> {
    const { settings } = this.#settings.get(project.id)!;
    const names = channelsFor(settings, matter.severity);
    await Promise.all(names.map((name) => this.#queueFor(this.#lanes.get(keyOf(project.id, name)), matter)));
  }

  async #queueFor(lane: Lane | undefined, matter: Matter): Promise<void> {
    if (!lane || matter.about === channelAlertId(lane)) return;
    const [, id = ''] = /^reminder\/(.*)$/.exec(matter.about) ?? [];
    // A reminder of something that was not sent yet would send it twice.
    if (id !== '' && lane.hasPending(({ questionIds }) => questionIds.includes(id))) return;
    const { store, clock } = this.#deps;
    const now = clock.now();
    const key = `${keyOf(lane.project.id, lane.name)}/${matter.about}`;
    const earliest = (this.#lastAt.get(key) ?? Number.NEGATIVE_INFINITY) + SAME_MATTER_MS;
    const nextAt = Math.max(now + matter.waitMs, matter.questionIds.length > 0 ? 0 : earliest);
    const notification = notificationOf(lane.project, lane.name, matter, nextAt);
    const reply = await store.execute({ type: 'notification.queue', projectId: lane.project.id, notification });
    for (const { body } of reply.ok ? reply.events : []) {
      if (body.type !== 'notification.queued') continue;
      this.#lastAt.set(key, nextAt);
      lane.put(body.notification);
    }
  }

  /** Starts every lane that has something due. Returns the time until the next one, or null if nothing is queued. */
  #startSending(): number | null {
    const now = this.#deps.clock.now();
    let first: number | null = null;
    for (const lane of this.#lanes.values()) {
      const dueAt = lane.isSending ? null : lane.dueAt(now);
      if (dueAt === null) continue;
      if (dueAt > now) first = Math.min(first ?? dueAt, dueAt);
      else this.#begin(lane);
    }
    return first === null ? null : first - now;
  }

  #begin(lane: Lane): void {
    lane.isSending = true;
    const work = this.#send(lane)
      .catch(async (error: unknown) => {
        if (this.#stopped.signal.aborted) return;
        this.#deps.onNote(`what ${lane.name} was sent could not be recorded; trying again in 5 s`, error);
        await this.#deps.clock.sleep(PAUSE_AFTER_FAILURE_MS, this.#stopped.signal);
      })
      .finally(() => {
        lane.isSending = false;
        this.#sending.delete(work);
        this.#handle?.wake();
      });
    this.#sending.add(work);
  }

  async #send(lane: Lane): Promise<void> {
    const wanted = await this.#stillWanted(lane, lane.take(this.#deps.clock.now()));
    if (wanted.length === 0) return;
    const notifications = wanted.map(({ notification }) => notification);
    try {
      const parts = wanted.map(({ notification: { id, severity, title, text, createdAt }, question }) => ({
        id,
        severity,
        title,
        text,
        createdAt,
        question,
      }));
      const channel = await this.#lines.channelOf(lane);
      const reference = await channel.send(messageOf(lane.project, parts), this.#stopped.signal);
      await this.#settle(lane, notifications, () => ({ error: null, reference, nextAt: null }));
      await clearChannelAlert(this.#deps, lane);
    } catch (error) {
      if (!(error instanceof ChannelError) || this.#stopped.signal.aborted) throw error;
      const now = this.#deps.clock.now();
      const next = (notification: Notification) => nextTryAt(notification, error, now);
      const text = [error.message, error.hint].filter((part) => part !== '').join(' ');
      await this.#settle(lane, notifications, (each) => ({ error: text, reference: null, nextAt: next(each) }));
      lane.failed(error, next({ ...notifications[0]!, createdAt: now }) ?? now, now);
      await raiseChannelAlert(this.#deps, lane, error);
    }
  }

  /** What was answered, acknowledged or restarted in the meantime needs no notification. */
  async #stillWanted(lane: Lane, notifications: Notification[]) {
    const { store } = this.#deps;
    const looked = await Promise.all(
      notifications.map(async (notification) => {
        const { about, questionIds, taskId } = notification;
        const question = questionIds[0] === undefined ? null : await store.record('question', questionIds[0]);
        if (question) return { notification, question, isWanted: question.status === 'open' };
        if (about.startsWith('alert/')) {
          const alert = await store.record('alert', about);
          return { notification, question, isWanted: alert !== null && isOpenAlert(alert) };
        }
        const task = about.startsWith('task/') && taskId !== null ? await store.task(taskId) : null;
        return { notification, question, isWanted: !task || (await needsPerson(store, lane.project, task)) };
      }),
    );
    const unwanted = looked.filter(({ isWanted }) => !isWanted).map(({ notification }) => notification);
    await this.#settle(lane, unwanted, () => ({ error: 'settled before it was sent', reference: null, nextAt: null }));
    return looked.filter(({ isWanted }) => isWanted);
  }

  async #settle(
    lane: Lane,
    notifications: Notification[],
    how: (notification: Notification) => Pick<Notification, 'error' | 'reference' | 'nextAt'>,
  ): Promise<void> {
    const projectId = lane.project.id;
    await Promise.all(
      notifications.map(async (notification) => {
        const result = how(notification);
        const { id: notificationId, attempts } = notification;
        await this.#deps.store.execute({ type: 'notification.settle', projectId, notificationId, ...result });
        lane.put({ ...notification, ...result, attempts: attempts + 1 });
      }),
    );
  }
}

const keyOf = (projectId: string, name: string) => `${projectId}/${name}`;
