import { expect, test } from 'vitest';
import { missingProgram, redAdvice } from './red-advice.ts';

test.each([
  ["Error: Cannot find module 'left-pad'\nRequire stack:", 'left-pad', '`prepare`'],
  ["ModuleNotFoundError: No module named 'numpy.core'", 'numpy.core', '`prepare`'],
  ['sh: 1: vitest: not found', 'vitest', '`prepare`'],
  ['bash: line 1: tox: command not found', 'tox', '`prepare`'],
  ["Error: ENOENT: no such file or directory, open '/w/clean-1/config/.env.test'", '.env.test', '`include`'],
  ["FileNotFoundError: [Errno 2] No such file or directory: 'data/local.json'", 'local.json', '`include`'],
])('the output %s leads to a proposal that names %s and %s', (output, name, setting) => {
  const advice = redAdvice('test', output);
  expect(advice).toContain(name);
  expect(advice).toContain(setting);
});

test.each(['AssertionError: expected 1 to be 2', "Cannot find module './own.ts'"])(
  'the output %s shows nothing that a setting could change',
  (output) => expect(redAdvice('test', output)).toBe(null),
);

test.each([
  ['/usr/bin/sh: 1: go: not found', 'go'],
  ['bash: line 1: composer: command not found', 'composer'],
])('the output %s leads to the advice to install %s on the machine', (output, program) => {
  expect(missingProgram(output)).toContain(`${program} is not on the PATH`);
  expect(redAdvice('test', output)).toBe(missingProgram(output));
});

test('a program that a project installs is no program of the machine', () => {
  expect(missingProgram('sh: 1: vitest: not found')).toBe(null);
});
