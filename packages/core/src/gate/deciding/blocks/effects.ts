import type { TestBlock, TestSource } from './items.ts';
import { boundIn } from './used.ts';

const ASSERTIONS =
  /^(assert|expect|should|chai|sinon|unittest|TestCase|pytest|testing|require|AssertionError|QUnit|jasmine|vi|jest)$/;
const WORLD =
  /^(builtins|__builtins__|sys|global|globalThis|Object|Array|Promise|Function|String|Number|Map|Set|Reflect|JSON|Math|Error|console|Date|inspect|types|functools|operator)$/;
const INNER =
  /^(prototype|__class__|__proto__|__globals__|__dict__|__builtins__|__code__|__defaults__|__init__|__eq__|__new__)$/;
const LOADS = /^(require|import|import_module|__import__|type|globals|vars|getattr|locals)$/;
const ASSIGNS = /^(=|[-+*/%&|^]=|\|\|=|&&=|\?\?=|\*\*=|\+\+|--)$/;
/** Methods that change the list or table they belong to. */
const MUTATES =
  /^(splice|push|pop|shift|unshift|sort|reverse|fill|copyWithin|clear|delete|set|add|append|extend|insert|remove|update|setdefault|popitem|discard|truncate|drain|retain)$/;
/** They give code that runs outside the test, or another handle of what tests share. */
const REACHES =
  /^(__define[GS]etter__|getBuiltinModule|_linkedBinding|registerHooks|runInThisContext|get_referrers|get_objects)$/;
/** Loaded once more, inside a test: `await import('node:assert')`. */
const LIBRARY = /^["'`]((node:)?assert(\/strict)?|node:test|chai|vitest|@jest\/globals|unittest|_?pytest)["'`]$/;
const LOADER = /^(import|require|import_module|__import__|getBuiltinModule|\))$/;
/** Redirecting these hides no failure. */
const HARMLESS =
  /^(os\.(Std\w+|Args|environ)|process\.(env|argv|stdout|stderr|stdin)|sys\.(argv|stdout|stderr|stdin|path))\b/;

export const isHarmless = (path: string): boolean => HARMLESS.test(path);

/**
 * The first token of a new block that changes something outside it: an import, the assertions, a built-in object. Every test
 * that runs afterwards would see it.
 */
export function effectIn(
  source: TestSource,
  { from, to }: TestBlock,
  imported: ReadonlySet<string>,
  shared: ReadonlySet<string>,
): number | null {
  const { tokens } = source;
  const bound = boundIn(source, from, to);
  const loaded = importedIn(source, from, to);
  const isKnown = (name: string) =>
    loaded.has(name) ||
    /^(assert|chai|unittest)$/.test(name) ||
    ((ASSERTIONS.test(name) || WORLD.test(name) || imported.has(name)) && !bound.has(name));
  const isByIndent = source.language.lines === 'indent';
  const word = (at: number) => (at >= from && at < to ? tokens[at]!.text : '');
  const second = new Map<string, string>();
  for (let at = from; at < to; at += 1) if (aliasedAt(word, at) !== '') second.set(word(at), aliasedAt(word, at));
  const isOuter = (name: string) => isKnown(name) || isKnown(second.get(name) ?? '');
  const isShared = (name: string) => shared.has(second.get(name) ?? name);
  for (let at = from; at < to; at += 1) {
    const { kind, text } = tokens[at]!;
    if (kind === 'sign' && ASSIGNS.test(text)) {
      const target = targetOf(source, from, at);
      if (target && (isAssigned(target, isOuter) || isShortened(word, at, isShared(target.root)))) return at - 1;
      if (text === '=' && assignsInPattern(source, from, at, isOuter)) return at - 1;
    }
    if (kind === 'string' && LIBRARY.test(text) && word(at - 1) === '(' && LOADER.test(word(at - 2)))
      if (!(word(at - 3) === '=' && ASSERTIONS.test(word(at - 4))))
        // Under its usual name, everything that is done to it is recognised.
        return at;
    if (kind !== 'word') continue;
    const [previous, next] = [word(at - 1), word(at + 1)];
    const isCalled = next === '(' && previous !== '.';
    if (isCalled && /^(setattr|delattr|exec|eval|Function)$/.test(text) && previous !== 'def') return at;
    if (isByIndent && /^[ds]etattr$|^delattr$/.test(text) && /^[(,[=]$/.test(previous)) return at;
    if (text === 'eval' && source.language.lines === 'asi' && previous === ',') return at;
    if (text === 'global' && isByIndent && isOuter(next)) return at;
    if (REACHES.test(text)) return at;
    if (/^del(ete)?$/.test(text) && previous !== '.' && isMember(word, at + 1) && isOuter(next))
      if (!isHarmless(`${next}.${word(at + 3)}`)) return at;
    if (/^(for|as)$/.test(text) && previous !== '.') {
      const name = next === '(' ? at + 2 : at + 1;
      if (isMember(word, name) && (isOuter(word(name)) || imported.has(word(name))) && isTarget(word, name)) return at;
    }
    if (isByIndent && (isOwnClass(word, at) || reachesInPython(source, at, word))) return at;
    const member = previous === '.' ? `${word(at - 2)}.${text}` : '';
    if (
      /^(vi|jest)\.(mock|doMock|setMock|unmock|stubGlobal)$|^(expect\.(extend|addEqualityTesters|addSnapshotSerializer)|chai\.(use|config))$/.test(
        member,
      )
    )
      return at;
    if (
      /^(Object\.(assign|definePropert(y|ies)|setPrototypeOf)|Reflect\.(set|defineProperty|setPrototypeOf|deleteProperty))$/.test(
        member,
      ) &&
      next === '(' &&
      (isOuter(word(at + 2)) || INNER.test(word(at + 4)) || !/^[\w${[]/.test(word(at + 2)))
    )
      return at;
    // `client.extend(…)` of JavaScript makes another one.
    const isMutating = MUTATES.test(text) && !(text === 'extend' && source.language.lines === 'asi');
    if (isMutating && next === '(' && previous === '.' && shared.has(word(at - 2)) && !bound.has(word(at - 2)))
      return at;
    if (text === '__setattr__' || text === '__globals__' || text === '__builtins__') return at;
    // The assertions handed to somebody else, under another name.
    const isValue =
      /^(assert|expect|chai|unittest|TestCase)$/.test(text) && !bound.has(text) && source.language.lines !== 'indent';
    if (
      isValue &&
      /^[(,=[:]$/.test(previous) &&
      /^[,)\];}]?$|^\n$/.test(next) &&
      (previous === '=' || !isParameter(source, at, to))
    )
      return at;
  }
  return null;
}

type WordAt = (at: number) => string;

/** `cases.length = 0`, `CASES[:] = []` */
const isShortened = (word: WordAt, sign: number, isShared: boolean): boolean =>
  isShared && (word(sign - 1) === ']' || (word(sign - 1) === 'length' && word(sign - 2) === '.'));

/** What a plain assignment gives a second name: `a` in `b = a`; empty where it is none. */
const aliasedAt = (word: WordAt, at: number): string =>
  /^\w+$/.test(word(at)) && /^:?=$/.test(word(at + 1)) && /^[;\n]?$/.test(word(at + 3)) && word(at - 1) !== '.'
    ? word(at + 2)
    : '';

/** The class of a test as a value: anyone who has it can change all its tests. `type(self).__name__` only reads. */
const isOwnClass = (word: WordAt, at: number): boolean => {
  const isCall = word(at) === 'type' && word(at + 1) === '(' && word(at + 2) === 'self' && word(at + 3) === ')';
  const isName = word(at) === '__class__' && word(at - 1) === '.' && word(at - 2) === 'self';
  return (isCall && !/^[.(]$/.test(word(at + 4))) || (isName && !/^[.(]$/.test(word(at + 1)));
};

const isMember = (word: WordAt, at: number) => /^[.[]$/.test(word(at + 1));

/** `for (a.b of …)`, `for a.b in …`, `as a.b:`, not `for (a.b(); …)`. */
function isTarget(word: WordAt, at: number): boolean {
  let end = at;
  while (word(end + 1) === '.') end += 2;
  return word(end + 1) === '[' || /^(of|in|:|,)$/.test(word(end + 1));
}

/** Names that a block imports for itself: they are the same modules that all tests have. */
function importedIn({ tokens, language }: TestSource, from: number, to: number): Set<string> {
  const names = new Set<string>();
  if (language.lines !== 'indent') return names;
  for (let at = from; at < to; at += 1) {
    if (tokens[at]!.text !== 'import') continue;
    for (at += 1; at < to && tokens[at]!.kind !== 'newline'; at += 1) {
      const next = tokens[at + 1]?.text ?? '';
      if (tokens[at]!.kind === 'word' && next !== 'as' && next !== '.') names.add(tokens[at]!.text);
      if (next === '.') names.add(tokens[at]!.text);
    }
  }
  return names;
}

/** Other ways to the tests that run beside this one, and to the end of the program. */
function reachesInPython({ tokens, partner }: TestSource, at: number, word: WordAt): boolean {
  const { text } = tokens[at]!;
  if (word(at - 1) !== '.') return false;
  const owner = word(at - 2);
  const next = word(at + 1);
  if (owner === 'sys' && text === 'modules') return next === '[' || next === '.';
  if (owner === 'session' && text === 'items') return next !== '(';
  if (owner === 'atexit' && text === 'register') return true;
  const called = owner === ')' ? partner[at - 2]! : -1;
  const callee = called > 0 ? word(called - 1) : '';
  if (MUTATES.test(text) && next === '(') return owner === '__dict__' || /^(vars|globals)$/.test(callee);
  return (
    text === 'start' &&
    next === '(' &&
    (callee === 'patch' || (word(called - 2) === '.' && word(called - 3) === 'patch'))
  );
}

/** `[a.b] = …`, `({ c: a.b } = …)` */
function assignsInPattern(
  { tokens, partner }: TestSource,
  from: number,
  sign: number,
  isOuter: (name: string) => boolean,
): boolean {
  const close = tokens[sign - 1]!;
  if (close.kind !== 'close' || !/^[\]}]$/.test(close.text)) return false;
  const open = partner[sign - 1]!;
  const before = open > from ? tokens[open - 1]! : undefined;
  if (before && (before.kind === 'word' || before.kind === 'close')) return false;
  for (let at = open + 1; at < sign - 2; at += 1)
    if (tokens[at]!.kind === 'word' && tokens[at - 1]!.text !== '.' && isOuter(tokens[at]!.text))
      if (/^[.[]$/.test(tokens[at + 1]!.text) && tokens[at - 1]!.text !== '=') return true;
  return false;
}

interface Target {
  root: string;
  path: string;
  isPlain: boolean;
  isLoaded: boolean;
  isInner: boolean;
}

function isAssigned({ root, path, isPlain, isLoaded, isInner }: Target, isOuter: (name: string) => boolean): boolean {
  if (isLoaded) return true;
  if (isHarmless(path)) return false;
  if (isPlain) return isOuter(root);
  return isInner ? true : isOuter(root);
}

/** What stands left of an assignment: `a.b[c].d`. Null for a declaration or an argument's name. */
function targetOf({ tokens, partner, language }: TestSource, from: number, sign: number): Target | null {
  let at = sign - 1;
  const steps: string[] = [];
  let isLoaded = false;
  for (;;) {
    const token = tokens[at];
    if (!token || at < from) return null;
    if (token.kind === 'close' && (token.text === ']' || token.text === ')')) {
      const open = partner[at]!;
      if (token.text === ')' && LOADS.test(tokens[open - 1]?.text ?? '')) isLoaded = true;
      if (token.text === ']')
        for (let each = open; each < at; each += 1)
          if (tokens[each]!.kind === 'string') steps.push(tokens[each]!.text.slice(1, -1));
      at = open - 1;
      continue;
    }
    if (token.kind !== 'word')
      return isLoaded ? { root: '', path: '', isPlain: false, isLoaded, isInner: false } : null;
    steps.push(token.text);
    const previous = tokens[at - 1]?.text;
    if (at - 1 >= from && (previous === '.' || previous === '?.')) at -= 2;
    else break;
  }
  const before = at > from ? tokens[at - 1]! : undefined;
  const root = steps.at(-1)!;
  // The type in `const name: Type[] = …`
  if (before?.text === ':' && /^(const|let|var|,|\()$/.test(tokens[at - 3]?.text ?? '')) return null;
  if (isTyped(tokens, at, language)) return null;
  const isPlain = steps.length === 1 && tokens[sign - 1]!.kind === 'word';
  const isDeclared =
    before !== undefined &&
    (before.kind === 'word' || /^[,({:*&>]$/.test(before.text)) &&
    !/^(await|return|else|then)$/.test(before.text) &&
    !(before.text === '{' && language.lines !== 'indent');
  if (isPlain && (isDeclared || language.lines === 'indent')) return null;
  const path = [...steps].reverse().join('.');
  return {
    root,
    path,
    isPlain,
    isLoaded,
    isInner: steps.some((step) => INNER.test(step)) && !/^(this|self)$/.test(root),
  };
}

/** The type in Python's `name: a.Type = …` and in Go's `var name a.Type = …`. */
function isTyped(tokens: TestSource['tokens'], root: number, { lines }: TestSource['language']): boolean {
  const before = tokens[root - 1];
  if (lines === 'ends')
    return before?.kind === 'word' && !before.isFirst === /^(var|const)$/.test(tokens[root - 2]?.text ?? '');
  if (lines !== 'indent' || before?.text !== ':') return false;
  let at = root - 2;
  while (tokens[at]?.kind === 'word' && !tokens[at]!.isFirst && tokens[at - 1]?.text === '.') at -= 2;
  return tokens[at]?.kind === 'word' && tokens[at]!.isFirst && !/^(else|try|finally)$/.test(tokens[at]!.text);
}

function isParameter({ tokens, partner }: TestSource, at: number, to: number): boolean {
  for (let close = at + 1; close < Math.min(to, at + 60); close += 1) {
    const { kind, text } = tokens[close]!;
    if (kind === 'open') close = partner[close]!;
    else if (kind === 'close') {
      const next = tokens[close + 1]?.text;
      return next === '=>' || next === '{' || text === '}';
    }
  }
  return false;
}
