import { expect, test } from 'vitest';
import { mutantsOf, mutantText, planted } from './mutants.ts';

const values = (file: string, text: string) =>
  mutantsOf(file, text)
    .filter(({ kind }) => kind === 'value')
    .map(({ after }) => after.trim());

test('faults of JavaScript change operators, values and results, and nothing in comments and strings', () => {
  const text = [
    "import { b } from './b.js'; // a < b",
    'export function add(a, b) {',
    '  /* a + b */ return a + b; // 1 + 1',
    '}',
    'export const isSmall = (n) => n < 10 && true;',
    "export const name = 'a + b';",
  ].join('\n');
  expect(values('src/a.js', text)).toEqual([
    '/* a + b */ return a - b; // 1 + 1',
    '/* a + b */ return null; // 1 + 1',
    'export const isSmall = (n) => n >= 10 && true;',
    'export const isSmall = (n) => n < 10 || true;',
    'export const isSmall = (n) => n < 10 && false;',
    'export const isSmall = (n) => n < 11 && true;',
    'export const isSmall = (n) => null;',
    "export const name = 'a + b~';",
  ]);
});

test('a function without braces returns something else, wherever its expression ends on its line', () => {
  const faults = (line: string) => values('a.ts', line);
  expect(faults('const bare = (word) => word.trim();')).toEqual(['const bare = (word) => null;']);
  expect(faults('const all = (list) => list.map((it) => it.name);')).toEqual(['const all = (list) => null;']);
  expect(faults('const of = (a) => (b) => [a, b].flat();')).toEqual(['const of = (a) => (b) => null;']);
  expect(faults('  bare: (word) => word.trim(),')).toEqual(['bare: (word) => null,']);
  expect(faults('list.map((it) => it.name);')).toEqual([]);
  expect(faults('const shout = (word) => {')).toEqual([]);
  expect(faults('  shout: (word: string) => string;')).toEqual([]);
});

test('a function is replaced by its opposite, so that the result has the same type', () => {
  expect(values('a.py', 'def shout(word):\n    return word.upper()\n')).toEqual(['return word.lower()', 'return None']);
  expect(values('a.js', 'if (word.startsWith(mark)) upper(word);')).toEqual([
    'if (word.endsWith(mark)) upper(word);',
    'if (word.startsWith(mark)) lower(word);',
  ]);
  expect(values('a.js', 'const min = top.minimum;')).toEqual([]);
});

test('a loop is left alone, because a fault there may never end', () => {
  const text = 'let i = 0;\nfor (i = 0; i < 3; i++) {\n  i += 1;\n}\nwhile (i < 10) { i = i + 1; i++ }\n';
  expect(values('a.js', text)).toEqual(['let i = 1;']);
});

test('faults are found in Python, shell, C, Go and Rust', () => {
  expect(values('a.py', 'def add(a, b):\n    """a + b"""\n    return a + b  # a - b\n')).toEqual([
    'return a - b  # a - b',
    'return None  # a - b',
  ]);
  expect(values('a.sh', 'add() {\n  echo $(($1 + $2))\n  [ "$1" -eq 3 ] || return 1\n}\n')).toContain(
    'echo $(($1 - $2))',
  );
  expect(values('a.c', 'int add(int a, int b) {\n  return a + b;\n}\n')).toEqual(['return a - b;', 'return !(a + b);']);
  expect(values('a.go', 'func add(a int, b int) int {\n\treturn a + b\n}\n')).toEqual(['return a - b']);
  expect(values('a.rs', "fn add<'a>(x: &'a i32, y: i32) -> i32 {\n    x + y\n}\n")).toEqual(['x - y']);
});

test('a function ends with an error at its start, and one syntax error is offered per file', () => {
  const text = 'def add(a, b):\n    return a + b\n';
  const rest = mutantsOf('a.py', text).filter(({ kind }) => kind !== 'value');
  expect(rest.map(({ kind, after }) => [kind, after])).toEqual([
    ['stop', 'def add(a, b):\n    raise RuntimeError("fault")'],
    ['syntax', 'def add(a, b):\n)]}'],
  ]);
  const js = mutantsOf('a.js', 'if (x()) {\n}\nfunction f(a) {\n  return a;\n}\n').filter(
    ({ kind }) => kind === 'stop',
  );
  expect(js.map(({ after }) => after)).toEqual(["function f(a) {\n  throw new Error('fault');"]);
});

test('a fault is planted again where its line has moved to, and nowhere if the line is gone', () => {
  const [mutant] = mutantsOf('a.js', 'const a = 1;\nconst b = c + d;\n', new Set([2]));
  expect(planted('const b = c + d;\n', mutant!)).toBe('const b = c - d;\n');
  expect(planted('// new\n\n\nconst b = c + d;\n', mutant!)).toBe('// new\n\n\nconst b = c - d;\n');
  expect(planted('const b = c + e;\n', mutant!)).toBeNull();
  expect(mutantText(mutant!)).toBe('line 2: `const b = c + d;` became `const b = c - d;`');
});

test('a file that is no program, or that is binary, has no faults', () => {
  expect(mutantsOf('README.md', 'a < b')).toEqual([]);
  expect(mutantsOf('a.json', '{"a": 1}')).toEqual([]);
  expect(mutantsOf('a.js', 'a\0b + c')).toEqual([]);
});
