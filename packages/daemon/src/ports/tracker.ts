import type { ItemContent } from '@tidemill/contract';
import type { OutsideStatus } from '@tidemill/core';

/** An item as a tracker holds it. Its text is its author's, made plain and of a bounded length. */
export interface ExternalItem {
  /** Unique among all trackers, such as `github:owner/name#12`. */
  key: string;
  url: string | null;
  author: string;
  /** The author may push to the repository. False also when that is not known. */
  mayPush: boolean;
  content: ItemContent;
  state: 'open' | 'closed';
  /** Closed as something that will not be done. */
  isRejected: boolean;
  updatedAt: string;
  /** It is among those that become tasks. */
  isSelected: boolean;
  /** What `create` was given, if this account wrote it. */
  marker: string | null;
}

/** An open item as far as new work is compared with it. Anybody may have written it. */
export type OpenItem = Pick<ExternalItem, 'key'> & Pick<ItemContent, 'title' | 'body'>;

/** An item that is no longer there. */
export interface GoneItem {
  key: string;
  /** Such as "it was deleted", "it was transferred to owner/other#3". */
  gone: string;
}

/** What a person wrote about an item, besides its text. Comments of programs and of Tidemill are none. */
export interface ItemComment {
  key: string;
  /** Unique in the tracker. */
  id: string;
  author: string;
  /** Asked from the tracker. What others write is data and starts nothing. */
  mayPush: boolean;
  text: string;
}

export interface TrackerChanges {
  items: ExternalItem[];
  /** What was written since the cursor, about any item. A whole list has none. */
  comments: ItemComment[];
  /** For the next call. */
  cursor: string;
  /** Every open item that is selected is among them. */
  isWhole: boolean;
  /** Items that cannot be read, by key, and why. Only in a whole list. */
  faults?: ReadonlyMap<string, string>;
}

/** The one comment that is edited. */
export interface OutsideComment {
  /** This Tidemill; part of the comment, so that another one and a repetition recognise it. */
  instance: string;
  /** The work goes on: another Tidemill must not take the item. */
  isActive: boolean;
  text: string;
  /** A person decided that this Tidemill works on it, whatever other comments say. */
  isTakenOver?: boolean;
  /** Its id, if it was written before. */
  id: string | null;
}

export interface NewItem {
  title: string;
  body: string;
  labels: string[];
  /** Identifies it: a repetition finds what was already created. */
  marker: string;
}

/** Where tasks come from and where their progress is shown. Every write may be repeated. Failures are a `TrackerError`. */
export interface Tracker {
  /** Such as `github:owner/name`. */
  readonly name: string;
  readonly url: string | null;
  /** Without a cursor: every open item that is selected. With one: all that changed since, selected or not. */
  changes(cursor: string | null): Promise<TrackerChanges>;
  items(keys: readonly string[]): Promise<(ExternalItem | GoneItem)[]>;
  /** Open items, selected or not, those that changed last first. A long list may end early. */
  openItems(): Promise<OpenItem[]>;
  /** Everything that people wrote about one item. Empty where a tracker has no comments. */
  comments(key: string): Promise<ItemComment[]>;

  /** Returns its id; or which other Tidemill works on the item, and then nothing is written. */
  comment(key: string, comment: OutsideComment): Promise<{ id: string } | { takenBy: string }>;
  label(key: string, change: { add: readonly string[]; remove: readonly string[] }): Promise<void>;
  /** Does nothing where there is no such status. */
  setStatus(key: string, status: OutsideStatus): Promise<void>;
  close(key: string): Promise<void>;
  reopen(key: string): Promise<void>;
  create(item: NewItem): Promise<{ key: string; url: string | null }>;
}

/**
 *   offline       it does not answer, or with an error of its own
 *   rate_limited  it wants no more requests for a while
 *   access        the token is missing, expired or may not do it; a person must help
 *   refused       it does not accept this one write; others may go on
 */
export type TrackerTrouble = 'offline' | 'rate_limited' | 'access' | 'refused';

export class TrackerError extends Error {
  readonly trouble: TrackerTrouble;
  /** When to try again, if the tracker said so. */
  readonly retryInMs: number | null;

  constructor(trouble: TrackerTrouble, message: string, options: { retryInMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'TrackerError';
    this.trouble = trouble;
    this.retryInMs = options.retryInMs ?? null;
  }
}

export const isGone = (item: ExternalItem | GoneItem): item is GoneItem => 'gone' in item;
