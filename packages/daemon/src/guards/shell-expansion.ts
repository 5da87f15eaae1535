import { existsSync, readdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ParsedScript } from 'unbash';
import type { Part } from './shell-words.ts';

/** Marks a part of a word that is known only when the shell runs. */
export const UNKNOWN = '\0';

// While a word is built, these placeholders mark characters that have a meaning only outside quotes.
const SPECIAL = '*?[]{},~ ';
const FIRST_STAND_IN = 0xe000;
const standIn = (char: string) => String.fromCharCode(FIRST_STAND_IN + SPECIAL.indexOf(char));
const [STAR, QUESTION, OPEN, CLOSE, BRACE, BRACE_END, COMMA, TILDE, SPACE] = [...SPECIAL].map(standIn);
const ANY_STAND_IN = /[\ue000-\ue008]/g;
const plain = (text: string) =>
  text.replace(ANY_STAND_IN, (char) => SPECIAL[char.charCodeAt(0) - FIRST_STAND_IN] as string);

/** If one word expands to more words than this, the result counts as unknown. */
const MOST_WORDS = 500;
/** The context of a word. */
export interface Surroundings {
  cwd: string;
  home: string;
  /** The values a variable may have; null when unknown. */
  variable(name: string): string[] | null;
  /** Checks a command separately and returns what it prints, if that is known. */
  command(script: ParsedScript): string | null;
}

/** Expands one word as the shell would: variables, braces, wildcards and the tilde, where possible. */
export function expandWord(parts: Part[], around: Surroundings): string[] {
  const [only] = parts;
  // Most words are plain, and a command may have very many of them.
  if (parts.length === 1 && only?.kind === 'text' && (only.quoted || !/[*?[\]{},~]/.test(only.text)))
    return [only.text];
  let built = [''];
  for (const part of parts) {
    const values = valuesOf(part, around);
    if (built.length * values.length > MOST_WORDS) built = [UNKNOWN];
    else built = built.flatMap((head) => values.map((value) => head + value));
  }
  const isQuoted = parts.some((part) => part.quoted);
  return built
    .flatMap((word) => expandBraces(word, MOST_WORDS))
    .flatMap((word) => word.split(SPACE as string).filter((field) => field !== '' || isQuoted))
    .map((word) => expandTilde(word, around))
    .flatMap((word) => expandWildcards(word, around.cwd));
}

/** As one text, without splitting and wildcards: an assignment's value, a here-document. */
export function expandText(parts: Part[], around: Surroundings): string[] {
  const [first, ...rest] = parts;
  const head: Part[] =
    first?.kind === 'text' ? [{ ...first, quoted: first.quoted || !first.text.startsWith('~') }] : [];
  const quoted = [...(first && head.length === 0 ? [first] : head), ...rest];
  let built = [''];
  for (const part of quoted) {
    const values = valuesOf(part.kind === 'text' && part !== head[0] ? { ...part, quoted: true } : part, around);
    built = built.length * values.length > MOST_WORDS ? [UNKNOWN] : built.flatMap((a) => values.map((b) => a + b));
  }
  return built.map((word) => plain(expandTilde(word, around)));
}

function valuesOf(part: Part, around: Surroundings): string[] {
  switch (part.kind) {
    case 'text':
      return [part.quoted ? part.text : part.text.replace(/[*?[\]{},~]/g, standIn)];
    case 'variable':
      return (around.variable(part.name) ?? [UNKNOWN]).map((value) => spread(value, part.quoted));
    case 'command':
      return [spread(around.command(part.script) ?? UNKNOWN, part.quoted)];
    case 'computed': {
      for (const script of part.scripts) around.command(script);
      const values = (part.name === null ? null : around.variable(part.name)) ?? [UNKNOWN];
      if (!part.fallback) return [UNKNOWN];
      return [...values, ...expandText(part.fallback, around)].map((value) => spread(value, part.quoted));
    }
  }
}

/** Outside quotes the shell splits a value at blanks and looks for wildcards in it. */
function spread(value: string, quoted: boolean): string {
  return quoted ? value : value.replace(/\s+/g, SPACE as string).replace(/[*?[\]]/g, standIn);
}

function expandBraces(word: string, room: number): string[] {
  const open = word.indexOf(BRACE as string);
  if (open < 0) return [word];
  let depth = 0;
  const cuts = [open];
  for (let at = open; at < word.length; at += 1) {
    if (word[at] === BRACE) depth += 1;
    else if (word[at] === COMMA && depth === 1) cuts.push(at);
    else if (word[at] === BRACE_END) {
      depth -= 1;
      if (depth > 0) continue;
      const choices = cuts.map((cut, index) => word.slice(cut + 1, cuts[index + 1] ?? at));
      const [head, tail] = [word.slice(0, open), word.slice(at + 1)];
      if (choices.length === 1) return expandBraces(`${head}{${choices[0]}}${tail}`, room);
      const words = choices.flatMap((choice) => expandBraces(`${head}${choice}${tail}`, room / choices.length));
      return words.length > room ? [UNKNOWN] : words;
    }
  }
  return [word];
}

function expandTilde(word: string, { cwd, home }: Surroundings): string {
  if (word[0] !== TILDE) return word;
  const [, user, rest] = /^.([^/]*)(.*)$/s.exec(word) as unknown as [string, string, string];
  if (user === '') return home + rest;
  // Another user's home, which is never the worktree.
  return user === '+' ? cwd + rest : `/~${user}${rest}`;
}

function expandWildcards(word: string, cwd: string): string[] {
  const isPattern = [STAR, QUESTION, OPEN].some((char) => word.includes(char as string));
  if (!isPattern || word.includes(UNKNOWN) || cwd.includes(UNKNOWN)) return [plain(word)];
  let found = [isAbsolute(word) ? '/' : ''];
  for (const segment of word.split('/').filter((name) => name !== '')) {
    found = found.flatMap((folder) => namesIn(folder, segment, cwd)).slice(0, MOST_WORDS);
  }
  return found.length > 0 ? found : [plain(word)];
}

function namesIn(folder: string, segment: string, cwd: string): string[] {
  const child = (name: string) => (folder === '' ? name : folder === '/' ? `/${name}` : `${folder}/${name}`);
  const at = isAbsolute(folder) ? folder : join(cwd, folder);
  const name = plain(segment);
  if (segment === name) return existsSync(join(at, name)) ? [child(name)] : [];
  const pattern = patternOf(segment);
  // Names that start with a dot match only a pattern that starts with a dot; `.` and `..` are skipped.
  return readNames(at)
    .filter((found) => (found.startsWith('.') ? segment.startsWith('.') || segment[0] === OPEN : true))
    .filter((found) => pattern.test(found))
    .map(child);
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not a folder, or not readable: the shell would find nothing in it either
  }
}

function patternOf(segment: string): RegExp {
  const source = segment.replace(/[\ue000-\ue008]|[\\^$.*+?()[\]{}|]/g, (char) => {
    if (char === STAR) return '.*';
    if (char === QUESTION) return '.';
    if (char === OPEN) return '[';
    if (char === CLOSE) return ']';
    return `\\${plain(char)}`;
  });
  try {
    return new RegExp(`^${source.replaceAll('[!', '[^')}$`, 'su');
  } catch {
    return /^/; // an unmatched bracket: assume that it matches everything, which is the safe choice
  }
}
