import { expect, test } from 'vitest';
import { failureEssence, sharedWords, tellingLine } from './failure.ts';

/** What `node --test` prints when one of several files has no licence. */
const tap = (files: string[], bad: string) =>
  [
    'TAP version 13',
    ...files.flatMap((file, at) => [
      `# Subtest: licence of ${file}`,
      `${file === bad ? 'not ok' : 'ok'} ${at + 1} - licence of ${file}`,
      '  ---',
      `  duration_ms: ${at * 1.7}`,
      ...(file === bad ? ["  code: 'ERR_ASSERTION'", `  error: 'src/${file} must begin with // licence'`] : []),
      '  ...',
    ]),
    '# fail 1',
  ].join('\n');

const PYTEST = (file: string) => `collected 4 items\ntests/${file} F..\nE   AssertionError: assert 1 == 2\n`;
const TSC = (file: string, line: number) => `src/${file}(${line},5): error TS2322: Type 'string' is not 'number'.`;

test.each([
  ['node --test', tap(['a.js'], 'a.js'), tap(['a.js', 'beta.js'], 'beta.js')],
  ['pytest', PYTEST('test_a.py'), `${PYTEST('test_b.py')}4 passed\n`],
  ['tsc', TSC('a.ts', 3), `${TSC('parts/b.ts', 14)}\n${TSC('c.ts', 1)}`],
])('%s fails in the same way, whatever the file and the tests around it', (_, one, other) => {
  expect(failureEssence(one)).toBe(failureEssence(other));
});

test.each([
  ['other words', 'AssertionError: 1 is not 2', 'AssertionError: nothing was saved'],
  ['another rule', TSC('a.ts', 3), "src/a.ts(3,5): error TS7006: Parameter 'x' has an any type."],
  ['another error besides', TSC('a.ts', 3), `${TSC('a.ts', 3)}\nError: redis is not up`],
  ['no error in a form that is known', 'redis is not up', 'the disk is full'],
])('%s is another failure', (_, one, other) => {
  expect(failureEssence(one)).not.toBe(failureEssence(other));
});

test('a lesson says what the failures share: the words of the error, not where it was', () => {
  const said = ['a.js', 'beta.js'].map((file) => tellingLine(`Gate test failed.\n${tap(['x.js', file], file)}`));
  expect(said[0]).toBe("error: 'src/a.js must begin with // licence'");
  expect(sharedWords(said)).toBe("error: … must begin with // licence'");
  expect(sharedWords(['one two', 'one'])).toBe('one two');
});
