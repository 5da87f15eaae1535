import { plainName, plainText } from '../text/plain-text.ts';
import type { MergeLoss } from './conflict.ts';

/** What was lost, in one line, with the numbers of the lines. */
export function lossSummary({ path, kind, detail, lines, lineCount }: MergeLoss, target: string): string {
  const name = plainName(path);
  const where = lineNumbers(lines.map(({ line }) => line));
  const more = lineCount > lines.length ? ` and ${lineCount - lines.length} more` : '';
  switch (kind) {
    case 'lines':
      return `${name}: ${target} added or changed ${where}${more}, missing here`;
    case 'deleted_lines':
      return `${name}: ${target} deleted what was ${where}${more}, and it is here again`;
    case 'file':
      return `${name}: ${target} has this file with changes of its own, and it is missing here`;
    case 'deleted_file':
      return `${name}: ${target} deleted this file, and it is here again`;
    case 'renamed':
      return `${name}: ${target} renamed it from ${plainName(detail)}, and here it has its old name`;
    case 'mode':
      return `${name}: ${target} changed its mode to ${detail}, and here it has another`;
    case 'content':
      return `${name}: ${target} changed it, and here it has other content (it is not text that can be compared)`;
  }
}

/** The lost lines themselves, numbered. Those that only format come last. */
export const lossLines = ({ lines }: MergeLoss): string[] =>
  lines
    .toSorted((a, b) => Number(onlyFormats(a.text)) - Number(onlyFormats(b.text)))
    .map(({ line, text }) => `${String(line).padStart(5)} | ${plainText(text).replace(/[\n\t]/g, '  ')}`);

/** The whole of it, for a question, a prompt or a terminal. At most as many lines of each file as given. */
export function lossText(losses: readonly MergeLoss[], target: string, mostLines: number): string {
  return losses
    .toSorted((a, b) => Number(isFormatting(a)) - Number(isFormatting(b)))
    .map((loss) => {
      const lines = lossLines(loss);
      const rest = loss.lineCount > mostLines ? [`      … ${loss.lineCount - mostLines} more`] : [];
      return [`- ${lossSummary(loss, target)}`, ...lines.slice(0, mostLines), ...rest].join('\n');
    })
    .join('\n');
}

/** An empty line, or brackets and punctuation alone. */
const onlyFormats = (text: string) => !/[\p{L}\p{N}]/u.test(text);

const isFormatting = ({ lines, lineCount }: MergeLoss) =>
  lines.length > 0 && lineCount === lines.length && lines.every(({ text }) => onlyFormats(text));

/** `line 3`, `lines 3–5, 9`. */
function lineNumbers(lines: number[]): string {
  const ranges: [number, number][] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last && line === last[1] + 1) last[1] = line;
    else ranges.push([line, line]);
  }
  const shown = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
  return `${lines.length === 1 ? 'line' : 'lines'} ${shown}`;
}
