import { StringDecoder } from 'node:string_decoder';
import { plainText } from '../excerpt.ts';
import { RUNNERS } from './runners.ts';

/** A line of a summary, and where in the output it was. */
export interface SummaryLine {
  at: number;
  text: string;
}

/** A runner's line is shorter. The command of a package script may be longer. */
const LONGEST_LINE = 1_000;
/** Of a longer output only the end is looked at in addition. */
const MOST_BYTES = 8 * 1024 * 1024;

/** A test command begins: a package script, or the first line of a runner. */
export const BEGINS =
  /^(?:[>$] \S|\s*RUN\s+v\d|TAP version 1[34]$|=+ test session starts =+$|bun test v\d|PHPUnit \d|\s*Nextest run ID )/;
/** Package managers that run several packages put the package before each line. */
const PREFIXED = /^(?:\[[^\]\s]+\]:?|[\w@./-]+:[\w:.-]+:|[\w@./-]+ [\w:.-]+:) +(?=\S)/;

/** Splits a line that a package manager wrote: `packages/a test: # pass 3`. Null: it has no such prefix. */
export function unprefixed(line: string): { prefix: string; text: string } | null {
  const prefix = PREFIXED.exec(line)?.[0];
  // The spaces behind the first one belong to the line.
  return prefix === undefined ? null : { prefix: prefix.trimEnd(), text: line.slice(prefix.trimEnd().length + 1) };
}

/** Cheap, because an output may have millions of lines. */
const MAY_TELL = /\d|^\W*(?:ok|fail|no tests|tests|run)|^[=>$?]/i;
const TELLS = new RegExp([BEGINS, ...RUNNERS.map(({ line }) => line)].map(({ source }) => source).join('|'));

/** Picks the lines of test summaries out of an output. */
export class SummaryLines {
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  readonly #rest = { stdout: '', stderr: '' };
  readonly #lines: SummaryLine[] = [];
  #at = 0;
  #bytes = 0;

  write(chunk: Buffer, from: 'stdout' | 'stderr'): void {
    const seen = chunk.subarray(0, Math.max(0, MOST_BYTES - this.#bytes));
    this.#bytes += chunk.length;
    if (seen.length === 0) return;
    const lines = (this.#rest[from] + this.#decoders[from].write(seen)).split('\n');
    this.#rest[from] = lines.pop()!.slice(-4 * LONGEST_LINE);
    for (const line of lines) this.#take(line);
  }

  /** `outputEnd`: the end of the whole output. */
  finish(outputEnd: string): SummaryLine[] {
    for (const from of ['stdout', 'stderr'] as const) this.#take(this.#rest[from]);
    const unseen = Math.max(0, this.#bytes - MOST_BYTES);
    if (unseen > 0) for (const line of outputEnd.slice(-unseen).split('\n')) this.#take(line);
    return this.#lines;
  }

  #take(raw: string): void {
    this.#at += 1;
    if (raw.length > 4 * LONGEST_LINE || !MAY_TELL.test(raw)) return;
    const text = (raw.includes('\u001b') || raw.includes('\r') ? plainText(raw) : raw).trimEnd();
    if (text === '' || text.length > LONGEST_LINE) return;
    if (TELLS.test(text) || TELLS.test(unprefixed(text)?.text ?? '')) this.#lines.push({ at: this.#at, text });
  }
}
