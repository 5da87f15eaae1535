import type { InboxItem, Severity } from '@tidemill/contract';

export interface Toast {
  /** Null: several at once. */
  item: InboxItem | null;
  severity: Severity;
  text: string;
  /** Buttons besides "Show inbox" and "Don't show again". */
  buttons: { label: string; action: string }[];
}

/** Which notifications a person wants: the setting `tidemill.notifications`. */
export type Loudness = 'all' | 'important' | 'off';

const MOST_CHARS = 160;
const MOST_BUTTONS = 2;
export const ANSWER = 'answer';

/**
 * Decides what is told, and when: each item once, one notification at a time, and several that came together as one.
 *
 *   inbox ──▶ waiting ──▶ shown ──(closed)──▶ next
 */
export class ToastPolicy {
  readonly #told = new Set<string>();
  readonly #muted: Set<string>;
  #waiting: InboxItem[] = [];
  #isShowing = false;
  #project = '';

  constructor(muted: Iterable<string>) {
    this.#muted = new Set(muted);
  }

  get muted(): string[] {
    return [...this.#muted];
  }
  mute(item: InboxItem): void {
    this.#muted.add(muteKey(item));
  }
  unmuteAll(): void {
    this.#muted.clear();
  }

  /** The inbox as it is now. What has left it is no longer told. */
  see(items: InboxItem[], loudness: Loudness, project = ''): void {
    // Each project counts its questions and alerts from 1.
    if (project !== this.#project) {
      this.#told.clear();
      this.#waiting = [];
    }
    this.#project = project;
    const open = new Set(items.map(told));
    this.#waiting = this.#waiting.filter((item) => open.has(told(item)));
    for (const item of items) {
      if (this.#told.has(told(item))) continue;
      this.#told.add(told(item));
      if (this.#isWanted(item, loudness)) this.#waiting.push(item);
    }
  }

  /** The next notification, if none is shown now. `close` must follow. */
  next(): Toast | null {
    if (this.#isShowing || this.#waiting.length === 0) return null;
    this.#isShowing = true;
    const items = this.#waiting;
    this.#waiting = [];
    return items.length === 1 ? single(items[0]!) : several(items);
  }
  close(): void {
    this.#isShowing = false;
  }

  #isWanted(item: InboxItem, loudness: Loudness): boolean {
    if (loudness === 'off' || this.#muted.has(muteKey(item))) return false;
    if (item.isBlocking) return true;
    // The queue runs low several times a day: the banner of the fleet says it.
    if (item.kind === 'alert' && item.title.startsWith('queue low')) return false;
    return loudness === 'all' || item.severity === 'error' || item.severity === 'critical';
  }
}

/** A repeated alert is told again when it becomes worse, not when it is counted again. */
const told = ({ ref, severity }: InboxItem) => `${ref} ${severity}`;
/** By kind: "Don't show again" is about all alerts of a kind, or all questions. */
const muteKey = ({ kind, title }: InboxItem) =>
  kind === 'alert' ? `alert ${title.replace(/ \(\d+ times\)$/, '')}` : kind;

const cut = (text: string) => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MOST_CHARS ? `${line.slice(0, MOST_CHARS)}…` : line;
};

function single(item: InboxItem): Toast {
  const { ref, kind, task, title, text, severity } = item;
  const about = task ? (ref.startsWith('#') ? `#${task.number} ${task.title}: ` : `#${task.number} `) : '';
  const said = kind === 'alert' ? cut(text || title) : cut(title);
  const buttons =
    kind === 'alert'
      ? item.actions.slice(0, MOST_BUTTONS).map(({ id, label }) => ({ label, action: id }))
      : [{ label: 'Answer', action: ANSWER }];
  return { item, severity, text: `${about}${said}`, buttons };
}

function several(items: InboxItem[]): Toast {
  const rank: Severity[] = ['info', 'warning', 'error', 'critical'];
  const worst = items.reduce((a, b) => (rank.indexOf(b.severity) > rank.indexOf(a.severity) ? b : a));
  const waiting = items.filter(({ isBlocking }) => isBlocking).length;
  const text =
    waiting > 0 ? `${items.length} things need you.` : `${items.length} alerts. ${cut(worst.text || worst.title)}`;
  return { item: null, severity: worst.severity, text, buttons: [] };
}
