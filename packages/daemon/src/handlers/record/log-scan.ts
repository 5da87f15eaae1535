import type { FileHandle } from 'node:fs/promises';
import { type LogSearch, plainText } from '@tidemill/contract';

/** Read at once. Between two reads other requests have their turn. */
const CHUNK = 1024 * 1024;
/** One request reads at most this much of a log. The rest is for the next one. */
const MAX_BYTES = 256 * 1024 * 1024;
/** The end of a log in which the last lines are searched. */
const TAIL_BYTES = 4 * CHUNK;
/** A longer line is shown cut. */
const MAX_LINE_CHARS = 300;
/** A line without an end, such as a binary file, is taken in pieces of this size. */
const MAX_PIECE = 64 * 1024;

export interface LogQuery {
  /** Every word must be in the line. Not a regular expression: a hostile one could block the daemon. */
  words: string;
  tail: boolean;
  from: number;
  limit: number;
}

export type LogHits = Pick<LogSearch, 'bytes' | 'matches' | 'lines' | 'next'>;

/** Searches a log in constant memory. Line numbers count from `from`. */
export async function scanLog(handle: FileHandle, query: LogQuery, signal: AbortSignal): Promise<LogHits> {
  const { size } = await handle.stat();
  const words = query.words.toLowerCase().split(/\s+/).filter(Boolean);
  const start = query.tail ? Math.max(query.from, size - TAIL_BYTES) : Math.min(query.from, size);
  const end = Math.min(size, start + MAX_BYTES);
  const found = new Hits(words, query);
  const lines = new Lines(start, (text, at) => found.take(text, at));
  const buffer = Buffer.alloc(CHUNK);
  for (let at = start; at < end; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, Math.min(CHUNK, end - at), at);
    if (bytesRead === 0) break;
    lines.add(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  const isCut = end < size;
  if (!isCut) lines.end();
  const next = query.tail ? null : (found.nextAt ?? (isCut ? lines.startOfRest : null));
  return { bytes: size, matches: found.matches, lines: found.lines, next };
}

/** Splits bytes into lines. */
class Lines {
  readonly #take: (text: string, end: number) => void;
  #rest: Buffer = Buffer.alloc(0);
  /** Where the rest starts in the file. */
  startOfRest: number;

  constructor(start: number, take: (text: string, end: number) => void) {
    this.startOfRest = start;
    this.#take = take;
  }

  add(bytes: Buffer): void {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    let from = 0;
    for (;;) {
      const newline = all.indexOf(10, from);
      if (newline >= 0) from = this.#line(all, from, newline, newline + 1);
      else if (all.length - from > MAX_PIECE) from = this.#line(all, from, from + MAX_PIECE, from + MAX_PIECE);
      else break;
    }
    // A copy: the next read overwrites the bytes.
    this.#rest = Buffer.from(all.subarray(from));
  }

  end(): void {
    if (this.#rest.length > 0) this.#line(this.#rest, 0, this.#rest.length, this.#rest.length);
  }

  #line(all: Buffer, from: number, to: number, next: number): number {
    this.startOfRest += next - from;
    // Cut before it is decoded: only its beginning is searched and shown.
    this.#take(all.toString('utf8', from, Math.min(to, from + MAX_PIECE)), this.startOfRest);
    return next;
  }
}

class Hits {
  matches = 0;
  lines: LogHits['lines'] = [];
  /** Behind the last line that is shown, when there are more. */
  nextAt: number | null = null;
  readonly #words: string[];
  readonly #query: LogQuery;
  #line = 0;
  #shownUntil = 0;

  constructor(words: string[], query: LogQuery) {
    this.#words = words;
    this.#query = query;
  }

  take(text: string, end: number): void {
    this.#line += 1;
    if (this.#words.length > 0) {
      const lower = text.toLowerCase();
      if (!this.#words.every((word) => lower.includes(word))) return;
    }
    this.matches += 1;
    const { tail, limit } = this.#query;
    if (this.lines.length >= limit) {
      if (!tail) {
        if (limit > 0) this.nextAt ??= this.#shownUntil;
        return;
      }
      this.lines.shift();
      if (limit === 0) return;
    }
    this.lines.push({ line: this.#line, text: shown(text) });
    this.#shownUntil = end;
  }
}

function shown(text: string): string {
  const plain = plainText(text.slice(0, 4 * MAX_LINE_CHARS)).trimEnd();
  return plain.length > MAX_LINE_CHARS ? `${plain.slice(0, MAX_LINE_CHARS)}…` : plain;
}
