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
/** Redirecting these hides no failure. */
const HARMLESS =
  /^(os\.(Std\w+|Args|environ)|process\.(env|argv|stdout|stderr|stdin)|sys\.(argv|stdout|stderr|stdin|path))\b/;

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
  const isOuter = (name: string) =>
    (ASSERTIONS.test(name) || WORLD.test(name) || imported.has(name)) && !bound.has(name);
  const word = (at: number) => (at >= from && at < to ? tokens[at]!.text : '');
  for (let at = from; at < to; at += 1) {
    const { kind, text } = tokens[at]!;
    if (kind === 'sign' && ASSIGNS.test(text)) {
      const target = targetOf(source, from, at);
      if (target && isAssigned(target, isOuter)) return at - 1;
    }
    if (kind !== 'word') continue;
    const [previous, next] = [word(at - 1), word(at + 1)];
    const isCalled = next === '(' && previous !== '.';
    if (isCalled && /^(setattr|delattr|exec|eval|Function)$/.test(text) && previous !== 'def') return at;
    if (text === 'global' && source.language.lines === 'indent' && isOuter(next)) return at;
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
    if (MUTATES.test(text) && next === '(' && previous === '.' && shared.has(word(at - 2)) && !bound.has(word(at - 2)))
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

interface Target {
  root: string;
  path: string;
  isPlain: boolean;
  isLoaded: boolean;
  isInner: boolean;
}

function isAssigned({ root, path, isPlain, isLoaded, isInner }: Target, isOuter: (name: string) => boolean): boolean {
  if (isLoaded) return true;
  if (HARMLESS.test(path)) return false;
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
