import { stripVTControlCharacters, styleText } from 'node:util';
import { plainText } from '@tidemill/contract';

export { elapsed, took } from '@tidemill/contract';

type Style = Parameters<typeof styleText>[0];

/** What commands write to. Colour only on a terminal, and never with NO_COLOR. */
export interface Terminal {
  out: NodeJS.WriteStream;
  err: NodeJS.WriteStream;
  isLive: boolean;
  width: number;
  paint(style: Style, text: string): string;
  /** A line to standard output. */
  line(text?: string): void;
  json(value: unknown): void;
}

const WIDTH = 80;

export function openTerminal(env: NodeJS.ProcessEnv): Terminal {
  const { stdout: out, stderr: err } = process;
  const isTty = out.isTTY === true && env.TERM !== 'dumb';
  const hasColour = isTty && !env.NO_COLOR;
  return {
    out,
    err,
    isLive: isTty,
    get width() {
      return isTty ? Math.max(40, out.columns || WIDTH) : WIDTH;
    },
    paint: (style, text) => (hasColour ? styleText(style, text, { validateStream: false }) : text),
    line: (text = '') => void out.write(`${text}\n`),
    json: (value) => void out.write(`${JSON.stringify(value)}\n`),
  };
}

export const timeOfDay = (at: number) => new Date(at).toLocaleTimeString('en-GB');
export const dateAndTime = (at: number) => new Date(at).toLocaleString('sv-SE');

/** Removes line breaks and control characters from text that came from outside. */
export function oneLine(text: string): string {
  return harmless(text).trim();
}

/** The same, keeping the indentation. */
export const harmless = (text: string) =>
  plainText(text)
    .replace(/[\n\t]\s*/g, ' ')
    .trimEnd();

/** Columns a character takes on a terminal: East Asian wide forms and pictures two, combining marks none. */
function columnsOf(character: string): number {
  if (/\p{Mark}|\u200d|\ufe0f/u.test(character)) return 0;
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u.test(
    character,
  )
    ? 2
    : 1;
}

export const widthOf = (text: string) =>
  [...stripVTControlCharacters(text)].reduce((sum, character) => sum + columnsOf(character), 0);

export function fit(text: string, width: number): string {
  const clean = harmless(text);
  if (widthOf(clean) <= width) return clean;
  let cut = '';
  let used = 0;
  for (const character of clean) {
    used += columnsOf(character);
    if (used > width - 1) break;
    cut += character;
  }
  return width > 0 ? `${cut.trimEnd()}…` : '';
}

/** Breaks a text into lines at its spaces. A word that is too long is cut. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of oneLine(text).split(/ +/)) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : '';
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(fit(word, width));
  }
  return lines;
}

/** The same for a text of several lines: each begins a new one, so that a command is not joined with what follows it. */
export const wrapLines = (text: string, width: number): string[] =>
  text.split('\n').flatMap((line) => (line.trim() === '' ? [] : wrap(line, width)));

export const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Columns are as wide as their widest cell; the last one is cut to the rest of the line. */
export function table(rows: string[][], width: number): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  const used = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
  return rows.map((row) =>
    row
      .map((cell, index) =>
        index === columns - 1 ? fit(cell, Math.max(10, width - used)) : pad(cell, widths[index]! + 2),
      )
      .join('')
      .trimEnd(),
  );
}
