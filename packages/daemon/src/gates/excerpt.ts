import { stripVTControlCharacters } from 'node:util';
import { isErrorLine } from '@tidemill/core';

export const LONGEST_EXCERPT = 4000;
const TAIL = 2400;
const LONGEST_LINE = 300;

/** Output without colours and without overwritten progress lines. */
export function plainText(output: string): string {
  return stripVTControlCharacters(output.replaceAll('\r\n', '\n')).replace(/^.*\r(?=[^\n])/gm, '');
}

/** The useful part of a gate's output: its end, and the error lines before it. */
export function excerptOf(headline: string, text: string): string {
  const lines = text.trimEnd().split('\n').map(shortened);
  const room = LONGEST_EXCERPT - headline.length - 10;
  let start = lines.length;
  for (let size = 0; start > 0 && size + lines[start - 1]!.length + 1 <= Math.min(TAIL, room); start--) {
    size += lines[start - 1]!.length + 1;
  }
  const tail = lines.slice(start).join('\n');
  const telling: string[] = [];
  let left = room - tail.length;
  for (const line of lines.slice(0, start)) {
    if (!isErrorLine(line)) continue;
    if (line.length + 1 > left) break;
    telling.push(line);
    left -= line.length + 1;
  }
  const before = telling.length > 0 ? `${telling.join('\n')}\n…\n` : start > 0 ? '…\n' : '';
  return `${headline}\n${before}${tail}`.trimEnd();
}

function shortened(line: string): string {
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE - 1)}…`;
}
