import { z } from 'zod';

/**
 * Text from agents, tools and people appears in commits, on terminals and on pages. It must be harmless there: no terminal
 * commands, no characters that reorder or hide the text around them.
 */

/** Colours, cursor moves, window titles, links. Repetitions are bounded, so that no input makes this slow. */
const TERMINAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b[\]PX^_][^\u0007\u001b\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]?[0-~]/g;

/**
 * Controls; direction marks and overrides; invisible characters, including tag characters that can carry hidden sentences.
 * Line breaks and tabs are handled before.
 */
const UNSEEN = new RegExp(
  `[\\p{Cc}${[
    ...['\\u00ad', '\\u034f', '\\u061c', '\\u115f', '\\u1160', '\\u17b4', '\\u17b5', '\\u180b-\\u180f'],
    ...['\\u200b', '\\u200e', '\\u200f', '\\u202a-\\u202e', '\\u2060-\\u206f', '\\u3164', '\\ufeff', '\\uffa0'],
    ...['\\ufff0-\\ufffb', '\\u{1bca0}-\\u{1bca3}', '\\u{1d173}-\\u{1d17a}', '\\u{e0000}-\\u{e0fff}'],
  ].join('')}]`,
  'gu',
);

/** Joiners belong to some scripts and to composed emoji; elsewhere they only hide text. */
const JOINERS = /(^|.)(?:\u200c|\u200d)+/gsu;
const JOINABLE = /[^\P{L}\p{ASCII}]|\p{M}|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u;

const CLEAN = /^[\n\t -~]*$/;

/** Keeps line breaks and tabs. */
export function plainText(text: string): string {
  if (CLEAN.test(text)) return text;
  return text
    .toWellFormed()
    .replace(TERMINAL, '')
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : ''))
    .replace(JOINERS, (all, before: string) => (JOINABLE.test(before) ? before + all.charAt(before.length) : before));
}

/** One line, for titles, names and labels. */
export const plainLine = (text: string): string => plainText(text).replace(/\s+/g, ' ').trim();

/** A file's name, safe to show: with unusual characters it is quoted, and they are escaped or removed. */
export const plainName = (name: string): string => (plainLine(name) === name ? name : plainLine(JSON.stringify(name)));

/** Schemas that make their input plain. */
export const PlainText = z.string().overwrite(plainText);
export const PlainLine = z.string().overwrite(plainLine);
