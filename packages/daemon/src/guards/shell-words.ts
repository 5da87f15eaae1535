import { forEachChild, type ParsedScript, parse, type SyntaxNode, type Word, type WordPart } from 'unbash';
import { mistakeIn } from './shell-mistakes.ts';

// unbash parses the command as bash does, without running it. This file splits its words into parts. What the shell expands
// when the command runs is a separate part, which other files judge.

/** A piece of a word. The value of a variable or a substitution is not known here. */
export type Part =
  | { kind: 'text'; text: string; quoted: boolean }
  | { kind: 'variable'; name: string; quoted: boolean }
  /** `$(…)`, backticks, `<(…)`: separate commands. */
  | { kind: 'command'; script: ParsedScript; quoted: boolean }
  /** `${x%y}`, `$((…))`: something computed, with the commands that run for it. */
  | { kind: 'computed'; name: string | null; fallback: Part[] | null; scripts: ParsedScript[]; quoted: boolean };

/** The text is not a complete shell command, or shells disagree about its meaning. */
class UnclearCommand extends Error {
  constructor(why: string) {
    super(`the command cannot be parsed (${why}); use one simple command per call and close every quote`);
  }
}

export function parseShell(source: string): ParsedScript {
  const text = source.replaceAll('\r\n', '\n');
  const script = parse(text);
  const mistake = mistakeIn(script, text);
  if (mistake !== null) throw new UnclearCommand(mistake);
  return script;
}

export const wordParts = (word: Word): Part[] => merged(word.parts ? word.parts.flatMap(partOf) : bare(word.text));

/** The text of a here-document: only `$…` and backticks are special in it. */
export const bodyParts = (text: string, parts: readonly WordPart[] | undefined): Part[] =>
  parts ? merged(parts.flatMap(quotedPart)) : [{ kind: 'text', text: text.replace(/\n$/, ''), quoted: true }];

/** The commands that run to evaluate a node: in arithmetic, patterns, subscripts. */
export function scriptsIn(node: SyntaxNode): ParsedScript[] {
  if (node.type === 'Script') return [node];
  const scripts = doubtful(node);
  forEachChild(node, (child) => scripts.push(...scriptsIn(child)));
  return scripts;
}

function partOf(part: WordPart): Part[] {
  switch (part.type) {
    case 'Literal':
      return bare(part.text);
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ kind: 'text', text: part.value, quoted: true }];
    case 'DoubleQuoted':
    case 'LocaleString':
      return [{ kind: 'text', text: '', quoted: true }, ...part.parts.flatMap(quotedPart)];
    case 'Glob':
    case 'BraceExpansion':
      return between(part);
    case 'ExtendedGlob':
      // Only some shells, with some settings, treat this as a pattern.
      throw new UnclearCommand(`${part.text} means different things to different shells`);
    default:
      return [expansion(part, false)];
  }
}

function quotedPart(part: WordPart): Part[] {
  return part.type === 'Literal' ? [{ kind: 'text', text: part.value, quoted: true }] : [expansion(part, true)];
}

/** The parts in brackets or braces, with the brackets and commas unchanged. */
function between(part: Extract<WordPart, { type: 'Glob' | 'BraceExpansion' }>): Part[] {
  const found: Part[] = [];
  let at = part.pos;
  for (const inner of part.parts ?? []) {
    found.push(...bare(part.text.slice(at - part.pos, inner.pos - part.pos)), ...partOf(inner));
    at = inner.end;
  }
  return [...found, ...bare(part.text.slice(at - part.pos))];
}

function expansion(part: WordPart, quoted: boolean): Part {
  switch (part.type) {
    case 'SimpleExpansion':
      return { kind: 'variable', name: part.text.slice(1), quoted };
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (!part.script) throw new UnclearCommand(`${part.text} cannot be read`);
      return { kind: 'command', script: part.script, quoted: quoted || part.type === 'ProcessSubstitution' };
    case 'ParameterExpansion': {
      const { parameter, prefix, index, operation } = part;
      const scripts = scriptsIn(part);
      if (!prefix && !operation && scripts.length === 0) return { kind: 'variable', name: parameter, quoted };
      const isDefault = operation?.type === 'Default' && !operation.operator.endsWith('?');
      const fallback = isDefault && !prefix && !index ? wordParts(operation.operand) : null;
      return { kind: 'computed', name: parameter, fallback, scripts, quoted };
    }
    default:
      return {
        kind: 'computed',
        name: null,
        fallback: null,
        scripts: scriptsIn(part),
        quoted,
      };
  }
}

/**
 * `((rm x))` is arithmetic to bash and a command in two subshells to dash; `$((rm x))` runs a command in zsh. So what can be
 * read as a command is one.
 */
function doubtful(node: SyntaxNode): ParsedScript[] {
  const isDoubtful =
    node.type === 'ArithmeticCommand' || (node.type === 'ArithmeticExpansion' && hasTwoWords.test(node.text));
  if (!isDoubtful) return [];
  const body = node.type === 'ArithmeticCommand' ? node.body : node.text.replace(/^\$\(\(|\)\)$/g, '');
  const script = parse(body);
  return mistakeIn(script, body) === null ? [script] : [];
}

const hasTwoWords = /[A-Za-z_./~]\S*\s+\S*[A-Za-z./~]/;

/** Text outside quotes; a backslash quotes what follows. */
function bare(text: string): Part[] {
  if (!text.includes('\\')) return text === '' ? [] : [{ kind: 'text', text, quoted: false }];
  return [...text.matchAll(/\\([\s\S]?)|[^\\]+/g)]
    .filter(([all]) => all !== '\\\n')
    .map(([all, escaped]) => ({
      kind: 'text',
      text: escaped === undefined ? all : escaped || '\\',
      quoted: escaped !== undefined,
    }));
}

function merged(parts: Part[]): Part[] {
  const found: Part[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (part.kind === 'text' && last?.kind === 'text' && last.quoted === part.quoted)
      found[found.length - 1] = { ...last, text: last.text + part.text };
    else found.push(part);
  }
  return found;
}
