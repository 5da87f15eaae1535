import type { TestBlock, TestSource } from './items.ts';
import { INDENT } from './tokens.ts';

export interface Shape {
  kind: 'import' | 'case' | 'group' | 'hook' | 'declaration' | 'function' | 'class' | 'loop' | 'other';
  /** Names that it gives a meaning in its scope. */
  names: string[];
  /** Finds the same item in another version of the file. */
  label: string;
  /** The first token after decorators and modifiers. */
  start: number;
  /** The function or macro that it calls, if it is only a call of that. */
  callee?: string;
}

const GROUPS = new Set(['describe', 'suite', 'context', 'feature', 'Feature', 'Rule', 'module', 'testModule']);
const CASES = new Set([
  ...['test', 'it', 'specify', 'bench', 'scenario', 'subTest', 'example', 'property', 'Scenario', 'Example'],
  ...['Run', 'test_case', 'its', 'itProp', 'benchmark'],
]);
const HOOKS =
  /^(before|after|around|setup|teardown|beforeEach|afterEach|beforeAll|afterAll|before_each|after_each|before_all|after_all|setup_all|suiteSetup|suiteTeardown|suite_setup|set_?up(_?(Class|Module|File|Suite|Test|Method|class|module|method|function|file))?|tear_?down(_?(Class|Module|File|Suite|Test|Method|class|module|method|function|file))?|TestMain|init|load_tests|asyncSetUp|asyncTearDown|onTestFinished|on_exit|Background|setup_file|teardown_file|oneTimeSetUp|oneTimeTearDown|pytest_\w+|collect_ignore(_glob)?|pytestmark|__\w+__)$/i;
const HOOK_MARKS =
  /^(Before|After|SetUp|TearDown|OneTimeSetUp|OneTimeTearDown|Rule|ClassRule|ExtendWith|RegisterExtension|autouse|ctor|fixture_autouse)/;
/** Rust: a name that takes the place of another one in the whole program. */
const SYMBOLS = /^(no_mangle|export_name|link_section|global_allocator)$/;
const CASE_MARKS =
  /^(Test|ParameterizedTest|RepeatedTest|TestFactory|Fact|Theory|TestMethod|TestCase|DataTestMethod|test|rstest|tokio|quickcheck|test_case|proptest|wasm_bindgen_test)$/;
const MODIFIERS =
  /^(export|default|async|pub|public|private|protected|internal|static|final|abstract|override|virtual|inline|unsafe|extern|suspend|open|data|sealed|readonly|declare|await|defp?(?=\0)|partial|mutating)$/;
const KEYWORD =
  /^(function|def|defp|defmodule|class|fn|func|struct|enum|trait|type|interface|mod|macro_rules|namespace|object|record|union|typedef|protocol|const|let|var|val|fun|static|using|subject|given)$/;
const CLASSES = /^(class|struct|enum|trait|interface|mod|namespace|object|record|protocol|impl|defmodule|extension)$/;

export function shapeOf(source: TestSource, item: TestBlock): Shape {
  const { tokens, partner } = source;
  const word = (at: number) => (at < item.to ? (tokens[at]?.text ?? '') : '');
  const isWord = (at: number) => at < item.to && tokens[at]?.kind === 'word';
  const marks: string[] = [];
  let start = item.from;
  // Decorators, attributes, modifiers
  for (let isMore = true; isMore && start < item.to; ) {
    const here = word(start);
    if (here === '@' && isWord(start + 1) && !/^test$/.test(word(start + 1))) {
      start += 1;
      for (; isWord(start) || word(start) === '.' || word(start) === ':'; start += 1) {
        marks.push(word(start));
        if (
          tokens[start + 1]?.isFirst ||
          tokens[start + 1]?.kind === 'newline' ||
          (isWord(start) && isWord(start + 1))
        ) {
          start += 1;
          break;
        }
      }
      if (word(start) === '(') {
        for (let at = start; at < partner[start]!; at += 1) if (isWord(at)) marks.push(word(at));
        start = partner[start]! + 1;
      }
    } else if ((here === '#' && word(start + 1) === '[') || (here === '[' && source.language.lines === 'braces')) {
      const open = here === '#' ? start + 1 : start;
      for (let at = open; at < partner[open]!; at += 1) if (isWord(at)) marks.push(word(at));
      start = partner[open]! + 1;
    } else if (here === '\n' || here === ';') start += 1;
    else if (
      MODIFIERS.test(here) &&
      (isWord(start + 1) || (word(start + 1) === '(' && here === 'pub') || word(start + 1) === '@')
    ) {
      start += 1;
      if (here === 'pub' && word(start) === '(') start = partner[start]! + 1;
    } else isMore = false;
  }
  const shape = bare(source, item, start);
  if (marks.some((mark) => SYMBOLS.test(mark))) return { ...shape, kind: 'hook' };
  if (shape.kind === 'function' || shape.kind === 'declaration' || shape.kind === 'class') {
    if (marks.some((mark) => HOOK_MARKS.test(mark))) return { ...shape, kind: 'hook' };
    if (shape.kind === 'function' && marks.some((mark) => CASE_MARKS.test(mark))) return { ...shape, kind: 'case' };
  }
  return shape;
}

function bare({ tokens, partner, language }: TestSource, { from: _, to }: TestBlock, start: number): Shape {
  const word = (at: number) => (at < to ? (tokens[at]?.text ?? '') : '');
  const isWord = (at: number) => at < to && tokens[at]?.kind === 'word';
  const first = word(start);
  const made = (kind: Shape['kind'], names: string[], label: string): Shape => ({ kind, names, label, start });
  const fallback = made('other', [], `${first} ${word(start + 1)} ${word(start + 2)}`);
  if (tokens[start]?.kind === 'acting') return fallback;
  // It only makes errors of mistakes.
  if (/^['"]use strict['"]$/.test(first) && (to - start === 1 || word(start + 1) === ';'))
    return made('declaration', [first], first);
  if (tokens[start]?.kind === 'directive') return directive(first, made);
  if (first === '@' && word(start + 1) === 'test') return made('case', [], `@test ${word(start + 2)}`);
  if (
    !language.shell &&
    /^(import|from|use|using|require|require_relative|extern|alias|package)$/.test(first) &&
    (word(start + 1) !== '.' || (first === 'from' && language.lines === 'indent'))
  )
    return made('import', [], `${first} ${isOfGo(start + 1) ? '(' : word(start + 1)}`);
  // Runs when its class is loaded.
  if (/^(static|init)$/.test(first) && word(start + 1) === '{') return made('hook', [], first);
  if (/^(for|if|while|switch|unless|with|else)$/.test(first))
    return made('loop', [], `${first} ${word(start + 1)} ${word(start + 2)} ${word(start + 3)}`);
  if (first === 'impl') {
    const end = indexOf(start, to, (at) => word(at) === '{');
    const header = tokens.slice(start + 1, end).map(({ text }) => text);
    const about = header.includes('for') ? header.slice(header.indexOf('for') + 1) : header;
    return made('class', about.filter((each) => /^[A-Z]/.test(each)).slice(0, 1), header.join(' '));
  }
  if (
    KEYWORD.test(first) &&
    !(word(start + 1) === '(' && first !== 'func' && first !== 'let' && first !== 'subject') &&
    (word(start + 1) !== '.' || (first === 'from' && language.lines === 'indent'))
  ) {
    if (first === 'func' && word(start + 1) === '(') {
      const close = partner[start + 1]!;
      const type = tokens.slice(start + 2, close).findLast(({ kind }) => kind === 'word')?.text ?? '';
      return made('function', [`${type}.${word(close + 1)}`], `func ${type}.${word(close + 1)}`);
    }
    const isPattern = word(start + 1) === '{' || word(start + 1) === '[' || word(start + 1) === '(';
    if (isPattern) {
      const names = patternNames(start + 1);
      if (isRequired(partner[start + 1]! + 2)) return made('import', names, `require ${word(partner[start + 1]! + 4)}`);
      return made('declaration', names, `${first} ${names.join()}`);
    }
    let at = start + 1;
    while (/^(\*|!|mut|const|class|struct|self|enum|fn|:|\.)$/.test(word(at))) at += 1;
    const name = word(at);
    if (isRequired(at + 2)) return made('import', [name], `require ${word(at + 4)}`);
    const kind = CLASSES.test(first)
      ? 'class'
      : /^(function|def|defp|fn|func|fun)$/.test(first)
        ? 'function'
        : 'declaration';
    return ofName(made, kind, name, first);
  }
  if (language.shell && (first === 'function' || (word(start + 1) === '(' && word(start + 2) === ')')))
    return ofName(made, 'function', first === 'function' ? word(start + 1) : first, 'function');
  if (word(start + 1) === '!' && first !== 'macro_rules' && /^[({[]$/.test(word(start + 2)))
    return { ...made('other', [], `${first}! ${word(start + 3)}`), callee: `${first}!` };
  // A call: `describe('…', …)`, `t.Run(…)`, `test.each(…)(…)`; in Ruby and Elixir without parentheses.
  const chain = [first];
  let at = start + 1;
  while ((word(at) === '.' || word(at) === '::' || word(at) === '?.') && isWord(at + 1)) {
    chain.push(word(at + 1));
    at += 2;
  }
  const isCall = word(at) === '(' || (tokens[at]?.kind === 'string' && at < to);
  if (
    isCall &&
    tokens[start]?.kind === 'word' &&
    language.lines !== 'indent' &&
    !(language.lines === 'braces' && bodyAfter(at))
  ) {
    const title = tokens.slice(at, at + 400).find(({ kind }) => kind === 'string')?.text ?? '';
    const label = `${chain.join('.')} ${title}`;
    if (chain.some((each) => HOOKS.test(each))) return made('hook', [], label);
    if (chain.some((each) => GROUPS.has(each))) return made('group', [], label);
    if (chain.some((each) => CASES.has(each) || /^(it|test|describe)[A-Z_]\w*$/.test(each)))
      return made('case', [], label);
    if (/^let!?$/.test(first)) return made('declaration', [word(at + 2)], label);
    return { ...made('other', [], label), ...(chain.length === 1 ? { callee: first } : {}) };
  }
  if (GROUPS.has(first) || CASES.has(first))
    if (language.lines === 'loose indent') return made(GROUPS.has(first) ? 'group' : 'case', [], lineText(start));
  if (HOOKS.test(first) && language.lines === 'loose indent') return made('hook', [], first);
  // `name = …`, `int name(…) {`, `name() {`
  const stop = indexOf(start, to, (each) => /^(=|\(|\{|;|\n|:=)$/.test(word(each)) || word(each) === INDENT);
  const sign = word(stop);
  let last = stop - 1;
  if (word(last) === ']') last = partner[last]! - 1;
  if (sign === '(' && isWord(last) && to - 1 > stop && bodyAfter(stop)) {
    // A C macro such as TEST(Suite, name) defines a case.
    if (/^(TEST\w*|BOOST_\w*TEST_CASE|SCENARIO|SECTION|START_TEST|Test|RUN_TEST|MU_TEST)$/.test(word(last)))
      return made(
        'case',
        [],
        tokens
          .slice(last, partner[stop]! + 1)
          .map(({ text }) => text)
          .join(' '),
      );
    return ofName(made, 'function', word(last), 'function');
  }
  if (sign === '=' && isWord(last) && (language.lines === 'indent' || stop - start > 1 || language.shell)) {
    const names = tokens
      .slice(start, stop)
      .filter(
        (each, index) =>
          each.kind === 'word' && (language.lines !== 'indent' || tokens[start + index - 1]?.text !== ':'),
      )
      .map(({ text }) => text);
    const isMember = tokens
      .slice(start, stop)
      .some(({ text }) => text === '.' || (text === '[' && language.lines === 'indent'));
    if (!isMember)
      return ofName(made, 'declaration', word(last), 'assign', language.lines === 'indent' ? names : [word(last)]);
  }
  return fallback;

  /** One import is written without the parentheses of several. */
  function isOfGo(at: number): boolean {
    return first === 'import' && language.lines === 'ends' && tokens[at]?.kind === 'string';
  }
  function isRequired(at: number): boolean {
    return word(at) === 'require' || (word(at) === 'await' && word(at + 1) === 'import');
  }
  function patternNames(open: number): string[] {
    const names: string[] = [];
    for (let each = open + 1; each < partner[open]!; each += 1)
      if (isWord(each) && word(each + 1) !== ':' && word(each - 1) !== '=') names.push(word(each));
    return names;
  }
  function bodyAfter(open: number): boolean {
    let next = partner[open]! + 1;
    while (next < to && word(next) !== '{' && word(next) !== ';' && word(next) !== '=' && word(next) !== '.') next += 1;
    return word(next) === '{';
  }
  function lineText(from: number): string {
    const { line } = tokens[from]!;
    let text = '';
    for (let each = from; each < to && tokens[each]!.line === line; each += 1) text += `${tokens[each]!.text} `;
    return text;
  }
}

function indexOf(from: number, to: number, is: (at: number) => boolean): number {
  let at = from;
  while (at < to && !is(at)) at += 1;
  return at;
}

type Made = (kind: Shape['kind'], names: string[], label: string) => Shape;

function ofName(made: Made, kind: Shape['kind'], name: string, label: string, names = [name]): Shape {
  if (HOOKS.test(name)) return made('hook', names, `${label} ${name}`);
  if (kind === 'function' && /^(test|Test|Benchmark|Fuzz|Example)/.test(name))
    return made('case', names, `${label} ${name}`);
  return made(kind, names, `${label} ${name}`);
}

function directive(text: string, made: Made): Shape {
  // Without a value it switches something in the files that are included.
  const defined = /^# ?define (?!_|NDEBUG)(\w+)\S* \S/.exec(text)?.[1];
  if (defined) return made('declaration', [defined], text);
  return made(/^# ?include ?</.test(text) ? 'import' : 'other', [], text);
}
