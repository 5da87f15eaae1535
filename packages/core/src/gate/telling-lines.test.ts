import { expect, it } from 'vitest';
import { isErrorLine, tellingLines } from './telling-lines.ts';

const NOISE = Array.from({ length: 10 }, (_, at) => `npm warn deprecated package-${at}@1.0.0: no error: use another`);

it.each([
  'src/a.ts(3,1): error TS2322: Type is wrong.',
  'error[E0308]: mismatched types',
  'main.c:3:5: error: expected expression',
  'npm error code EUSAGE',
  'npm ERR! missing script: test',
  '--- FAIL: TestAdd (0.00s)',
  ' FAIL  test/add.test.ts > adds',
  'FAILED tests/test_a.py::test_add - assert 1 == 2',
  'E   AssertionError: 1 is not 2',
  'AssertionError [ERR_ASSERTION]: 1 is not 2',
  '  12:5  error  x is not defined  no-undef',
  '✖ 1 problem',
  'not ok 3 - adds',
  'fatal: not a git repository',
  "thread 'main' panicked at src/main.rs:2",
])('a notice quotes "%s", not the warnings before it', (line) => {
  expect(tellingLines([...NOISE, 'running', line, 'done in 3 s'].join('\n'))).toBe(line);
});

it('without an error in such a form, a notice quotes the last lines', () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  expect(tellingLines([...NOISE, ...lines, ''].join('\n'), 2)).toBe('line 38\nline 39');
});

it.each(['warning: unused variable', 'a.c:3:5: warning: error: is shadowed', '0 errors', 'no errors found'])(
  '"%s" is no error',
  (line) => expect(isErrorLine(line)).toBe(false),
);
