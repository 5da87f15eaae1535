import { setImmediate } from 'node:timers/promises';
import { type EventType, type LoggedEvent, type ReactorView, taskIdOf } from '@tidemill/contract';
import type { EventFilter, ListedReader, Store } from '../ports.ts';
import type { StreamLimits } from './limits.ts';
import { PAGE_BYTES, PageSize } from './page-size.ts';
import { Throttle } from './throttle.ts';

/** Readers who differ in place or filter; between two commits their number has no other bound. */
const MOST_STEPS = 100;

/** An event as it goes over the wire, and what is needed to choose it. */
export interface Line {
  seq: number;
  projectId: string;
  taskId: string | null;
  type: EventType;
  json: string;
}

export const lineOf = (event: LoggedEvent): Line => ({
  seq: event.seq,
  projectId: event.projectId,
  taskId: taskIdOf(event.body),
  type: event.body.type,
  json: JSON.stringify(event),
});

export function isWanted(line: Line, { projectId, taskId, types }: EventFilter): boolean {
  if (projectId !== undefined && line.projectId !== projectId) return false;
  if (taskId !== undefined && line.taskId !== taskId) return false;
  return types?.includes(line.type) ?? true;
}

export const eventsMessage = (cursor: number, lines: Line[]): Buffer =>
  Buffer.from(`{"type":"events","cursor":${cursor},"events":[${lines.map(({ json }) => json).join(',')}]}`);

/** The next step of a reader: where it stands then, all that lies in between, and the message; null when none of it is wanted. */
export interface TailStep {
  cursor: number;
  lines: Line[];
  message: Buffer | null;
}

/**
 * The end of the log, read once for all connections. Each event is turned into text once, and a message that several
 * readers get is put together once.
 *
 *   log  ──────────────────┬───────────────┐
 *        read page by page │ kept here     │ head
 *        by anyone who lags   first           └─ the one reader
 *
 * The reactor host lists it but does not run it. It exists only while somebody is connected, wants every event of every
 * project as text, and skips nothing: a viewer that lags reads the log at its own position.
 */
export class LogTail implements ListedReader {
  readonly name = 'stream';
  readonly #store: Store;
  readonly #limits: StreamLimits;
  readonly #onLines: (lines: Line[]) => void;
  readonly #pulse: Throttle;
  readonly #size: PageSize;
  readonly #steps = new Map<string, TailStep>();
  #lines: Line[] = [];
  #bytes = 0;
  #first = 0;
  #head = 0;
  #isPlaced = false;
  #lastError: ReactorView['lastError'] = null;
  #offCommit: (() => void) | null = null;

  constructor(
    store: Store,
    limits: StreamLimits,
    { onLines, onError }: { onLines(lines: Line[]): void; onError(error: unknown): void },
  ) {
    this.#store = store;
    this.#limits = limits;
    this.#onLines = onLines;
    this.#size = new PageSize(limits.page);
    this.#pulse = new Throttle(
      () => this.#read(),
      (error) => {
        this.#lastError = { at: Date.now(), message: error instanceof Error ? error.message : String(error) };
        onError(error);
      },
    );
  }

  get position(): number {
    return this.#head;
  }
  get lastError(): ReactorView['lastError'] {
    return this.#lastError;
  }

  async start(): Promise<void> {
    this.#offCommit = this.#store.onCommit(() => this.#pulse.ring(this.#limits.batchMs));
    this.#head = await this.#store.lastSeq();
    this.#first = this.#head;
    this.#isPlaced = true;
    this.#pulse.ring(this.#limits.batchMs);
  }
  async stop(): Promise<void> {
    this.#offCommit?.();
    await this.#pulse.stop();
  }

  /** Whether a reader at the cursor can go on from here; else it has to read from the log itself. */
  reaches(cursor: number): boolean {
    return cursor >= this.#first;
  }

  step(cursor: number, filter: EventFilter): TailStep {
    const key = `${cursor} ${filter.projectId} ${filter.taskId} ${filter.types}`;
    const known = this.#steps.get(key);
    if (known) return known;
    let start = this.#lines.length;
    while (start > 0 && this.#lines[start - 1]!.seq > cursor) start -= 1;
    const lines = firstPage(this.#lines, start, this.#limits.page);
    const isLast = start + lines.length === this.#lines.length;
    const wanted = lines.filter((line) => isWanted(line, filter));
    const end = isLast ? this.#head : lines.at(-1)!.seq;
    const step = { cursor: end, lines, message: wanted.length > 0 ? eventsMessage(end, wanted) : null };
    if (this.#steps.size >= MOST_STEPS) this.#steps.clear();
    this.#steps.set(key, step);
    return step;
  }

  /** A commit that comes before it is known where the log ends is read afterwards: not all of the log for its sake. */
  async #read(): Promise<void> {
    for (let isMore = this.#isPlaced; isMore; ) {
      const limit = this.#size.events;
      const events = await this.#store.events({ after: this.#head, limit });
      if (events.length === 0) return;
      const lines = events.map(lineOf);
      this.#size.weigh(lines);
      this.#keep(lines);
      this.#onLines(lines);
      isMore = events.length === limit;
      if (isMore) await setImmediate();
    }
  }

  #keep(lines: Line[]): void {
    this.#steps.clear();
    this.#lines.push(...lines);
    this.#bytes += lines.reduce((sum, { json }) => sum + json.length, 0);
    this.#head = lines.at(-1)!.seq;
    const { keptEvents, keptBytes, page } = this.#limits;
    if (this.#lines.length <= keptEvents + page && this.#bytes <= keptBytes) return;
    // What just came stays whatever it weighs: those who are up to date are to get it.
    const most = this.#lines.length - lines.length;
    let dropped = 0;
    for (; dropped < most && (this.#lines.length - dropped > keptEvents || this.#bytes > keptBytes); dropped += 1)
      this.#bytes -= this.#lines[dropped]!.json.length;
    if (dropped === 0) return;
    this.#first = this.#lines[dropped - 1]!.seq;
    this.#lines = this.#lines.slice(dropped);
  }
}

/** As many as one message should hold, and at least one. */
function firstPage(lines: Line[], start: number, most: number): Line[] {
  let end = start;
  for (let bytes = 0; end < lines.length && end - start < most && bytes < PAGE_BYTES; end += 1)
    bytes += lines[end]!.json.length;
  return lines.slice(start, end);
}
