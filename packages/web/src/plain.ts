/** Turns text from agents, tools and file names into harmless text. */

/** Terminal sequences: colours, cursor moves, window titles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const ANSI = /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|[()#][0-9A-Za-z])/g;
/** Several control characters in a row are shown as their count. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const HEAPS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]{4,}/g;
/** Control characters, and marks that change the reading order of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function plain(text: string): string {
  return text
    .replace(ANSI, '')
    .replace(/\r\n?/g, '\n')
    .replace(HEAPS, (heap) => `[${heap.length.toLocaleString('en-US')} control characters]`)
    .replace(CONTROL, visible);
}

/** For a name or a title: one line. */
export const plainLine = (text: string) => plain(text.replaceAll('\r', '␍')).replaceAll('\n', '␊');

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The beginning of a long text and the number of omitted characters. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… ${(text.length - most).toLocaleString('en-US')} more characters`;
}

/** The non-empty lines of a text. */
export const linesOfText = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
