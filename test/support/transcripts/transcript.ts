import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One line of a transcript. A message is parsed where it is JSON; `in: null` is the end of the input. */
export type Entry =
  | { start: string[] }
  /** What Codex is told in a file before it starts. */
  | { settings: string[] }
  | { in: unknown }
  | { out: unknown }
  | { err: string }
  /** What Codex asked of its hook, and what the hook answered. */
  | { hook: unknown; answer: unknown }
  /** A new line of a file in which Codex keeps a session. */
  | { session: string; line: unknown }
  | { file: string; text: string }
  /** A person stopped the run here. */
  | { stop: true }
  | { exit: number | null; signal: string | null };

/** The first line: what was recorded. */
export interface Head {
  vendor: string;
  version: string;
  case: string;
}

export interface Transcript {
  head: Head;
  entries: Entry[];
}

export const fileOf = (vendor: string, name: string): string => path.join(import.meta.dirname, vendor, `${name}.jsonl`);

export function readTranscript(file: string): Transcript {
  if (!existsSync(file)) throw new Error(`${file} does not exist: \`npm run record\` writes it`);
  const [head, ...entries] = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  return { head: head as Head, entries: entries as Entry[] };
}

export const textOf = ({ head, entries }: Transcript): string =>
  `${[head, ...entries].map((line) => JSON.stringify(line)).join('\n')}\n`;

/** The lines of Codex's settings, without the hashes of hooks whose path is new every time. */
export const settingsIn = (text: string): string[] => text.split('\n').filter((line) => !/^trusted_hash|^$/.test(line));

/** Programs print text of many thousand characters, which no adapter looks into. The mark ends what is kept of it. */
const LONGEST = 600;
const KEPT = 120;
export const CUT = '…{cut}';

export const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, KEPT)}${CUT}` : text);

/** Applies a change to every text in a value. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]));
}

/** The names that stand for this machine's paths, and for the address of its model. */
export type Places = Record<string, string>;

export const fill = (text: string, places: Places): string =>
  text.replaceAll(/\{([a-z-]+)\}/g, (name, key: string) => places[key] ?? name);

/** What the player plays, told in a file. */
export interface Part {
  transcript: string;
  places: Places;
}
/** Appears beside that file where the recorded run was stopped. */
export const STOP_FILE = 'stop';
