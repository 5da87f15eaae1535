import { isErrorLine } from '../gate/telling-lines.ts';

/** More lines are the same error in other places. */
const MOST_LINES = 8;
const READ_LINES = 200;
const LONGEST_LINE = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
const COLOUR = /\u001b\[[0-9;]*m/g;
/** A file, with its folders if it has some: `src/parts/a.test.ts`. */
const FILE = /(?:[\w@.+-]+\/)*[\w@+-][\w@.+-]*\.[a-z][a-z0-9]{0,4}\b/gi;

/**
 * What is equal when a gate fails twice in the same way: the errors that its tool names, without the files they are about. The rest
 * of an output changes with every test that is added. Without such errors all of it counts.
 */
export function failureEssence(output: string): string {
  const lines = output.replaceAll(COLOUR, '').split('\n').filter(isErrorLine);
  if (lines.length === 0) return output;
  const read = lines.slice(0, READ_LINES).map((line) => line.slice(0, LONGEST_LINE));
  const plain = read.map((line) => line.replaceAll(FILE, '@').replaceAll(/\d+/g, '#').replaceAll(/\s+/g, ' ').trim());
  return [...new Set(plain)].slice(0, MOST_LINES).join('\n');
}

/** An error with its own words: `error: …`, `AssertionError: …`. A line such as `not ok 3 - name` only says where. */
const WORDED = /(?:error|exception)(?:\[\w+\]| [A-Z]+\d+| \[\w+\])?:.*\p{L}{3}/iu;
const TELLING = /\b(?:error|exception|panic\w*|assert\w*|expected|cannot|not ok|refused|missing|undefined)\b|Error:/i;

/** The line of a tool's output that says most. The first line of a trace is Tidemill's own. */
export function tellingLine(what: string): string {
  const lines = what
    .replaceAll(COLOUR, '')
    .split('\n')
    .slice(1)
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => /\p{L}{3}/u.test(line));
  const worded = lines.find((line) => isErrorLine(line) && WORDED.test(line));
  return worded ?? lines.find((line) => TELLING.test(line)) ?? lines.at(-1) ?? '';
}

/** The words that all lines share in the same place; … stands for the others. The first line if they are built differently. */
export function sharedWords([first = '', ...others]: readonly string[]): string {
  const words = first.split(' ');
  const all = others.map((line) => line.split(' '));
  if (all.some(({ length }) => length !== words.length)) return first;
  return words.map((word, at) => (all.every((each) => each[at] === word) ? word : '…')).join(' ');
}
