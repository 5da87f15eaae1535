import { type ChannelConfig, type Notification, type NotifySettings, type Project, Severity } from '@tidemill/contract';
import { GATHER_MS, isUrgent, quietUntil } from '@tidemill/core';
import type { ChannelMessage, MessagePart } from '../ports.ts';
import type { ChannelError } from './channel-error.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const FIRST_WAIT_MS = SECOND;
const LONGEST_WAIT_MS = 15 * MINUTE;
const GIVE_UP_MS = 24 * 60 * MINUTE;
/** More parts in one message are not readable; the next message follows at once. */
const MOST_PARTS = 10;

/** The time of the next attempt after this many failed ones; null after the last attempt. */
export function nextTryAt(notification: Notification, error: ChannelError, now: number): number | null {
  const doubled = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(notification.attempts, 20));
  const wait = error.kind === 'denied' ? LONGEST_WAIT_MS : Math.max(doubled, error.waitMs ?? 0);
  return now + wait > notification.createdAt + GIVE_UP_MS ? null : now + wait;
}

/** The order of a message's parts, which a reply refers to by number: the order of asking. */
export function inOrder(a: Notification, b: Notification): number {
  const place = ({ questionIds, id }: Notification) => questionIds[0] ?? id;
  return a.createdAt - b.createdAt || (place(a) < place(b) ? -1 : 1);
}

/** One project's queue for one channel: what still has to be sent, and when. */
export class Lane {
  readonly project: Project;
  readonly name: string;
  readonly config: ChannelConfig;
  readonly #settings: NotifySettings;
  readonly #pending = new Map<string, Notification>();
  #retryAt = 0;
  #isDenied = false;
  /** Since when deliveries fail; null while they succeed. */
  downSince: number | null = null;
  isSending = false;

  constructor(project: Project, name: string, settings: NotifySettings) {
    this.project = project;
    this.name = name;
    this.config = settings.channels[name]!;
    this.#settings = settings;
  }

  put(notification: Notification): void {
    if (notification.nextAt === null) this.#pending.delete(notification.id);
    else this.#pending.set(notification.id, notification);
  }

  hasPending(test: (notification: Notification) => boolean): boolean {
    return this.#pending.values().some(test);
  }

  failed(error: ChannelError, retryAt: number, now: number): void {
    if (error.kind === 'refused') return;
    this.downSince ??= now;
    this.#isDenied = error.kind === 'denied';
    this.#retryAt = Math.max(this.#retryAt, retryAt);
  }

  recovered(): void {
    this.downSince = null;
    this.#isDenied = false;
    this.#retryAt = 0;
  }

  /** When the first one is due; null when nothing is queued. */
  dueAt(now: number): number | null {
    let first: number | null = null;
    const quiet = this.#quietUntil(now);
    for (const notification of this.#pending.values()) {
      const at = this.#mayGoAt(notification, quiet);
      if (first === null || at < first) first = at;
    }
    return first;
  }

  /** The content of the next message: the first that is due, and those of its group that are due now. */
  take(now: number): Notification[] {
    const quiet = this.#quietUntil(now);
    const at = (notification: Notification) => this.#mayGoAt(notification, quiet);
    const [first] = [...this.#pending.values()]
      .filter((notification) => at(notification) <= now)
      .sort((a, b) => Number(isUrgent(b)) - Number(isUrgent(a)) || a.createdAt - b.createdAt);
    if (!first) return [];
    return [...this.#pending.values()]
      .filter((other) => other.group === first.group && at(other) <= now + GATHER_MS)
      .sort(inOrder)
      .slice(0, MOST_PARTS);
  }

  #mayGoAt(notification: Notification, quiet: number): number {
    const at = notification.nextAt ?? Number.POSITIVE_INFINITY;
    if (!isUrgent(notification)) return Math.max(at, this.#retryAt, quiet);
    // The first attempt of something urgent also shows whether the channel works again.
    return notification.attempts === 0 && !this.#isDenied ? at : Math.max(at, this.#retryAt);
  }

  #quietUntil(now: number): number {
    const { quietHours } = this.#settings.notify;
    return (quietHours && quietUntil(quietHours, now)) ?? 0;
  }
}

export function messageOf(project: Project, parts: (MessagePart & { createdAt: number })[]): ChannelMessage {
  const [first] = parts;
  const severity = parts.reduce<Severity>(
    (most, part) => (rank(part.severity) > rank(most) ? part.severity : most),
    'info',
  );
  const words = parts.some(({ question }) => question !== null) ? 'questions' : 'notices';
  return {
    id: first!.id,
    project: project.name,
    severity,
    at: first!.createdAt,
    title: parts.length === 1 ? first!.title : `${parts.length} ${words}`,
    parts: parts.map(({ createdAt: _, ...part }) => part),
  };
}

const rank = (severity: Severity) => Severity.options.indexOf(severity);
