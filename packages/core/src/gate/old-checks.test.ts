import { type OldChecks, oldChecksText } from '@tidemill/contract';
import { describe, expect, it } from 'vitest';
import type { ChangedFile } from './deciding/changed-file.ts';
import { checksApproval, isAcceptedFailure, isChecksApproved, oldCheckFindings, withJudged } from './old-checks.ts';

const fact = (text: string) => ({ oid: text, mode: '100644', text });
const changed = (path: string): ChangedFile => ({ path, before: fact('old'), after: fact('new') });
const deleted = (path: string): ChangedFile => ({ path, before: fact('old'), after: null });
const added = (path: string): ChangedFile => ({ path, before: null, after: fact('new') });
const reasonOf = (output: string, ...files: ChangedFile[]) =>
  oldCheckFindings([{ gate: 'test', output }], files).map(({ reason, files: named }) => [reason, ...named]);

describe('a gate that fails only with the target’s versions of the files that decide', () => {
  it('has a changed expectation as its reason when its output names the changed test', () => {
    const config = changed('vitest.config.ts');
    expect(reasonOf('FAIL test/sum.test.js\nexpected 4', changed('test/sum.test.js'), config)).toEqual([
      ['expectation', 'test/sum.test.js'],
    ]);
    expect(reasonOf('FAIL: test_sum (tests.test_sum.Sums)', changed('tests/test_sum.py'), config)).toEqual([
      ['expectation', 'tests/test_sum.py'],
    ]);
    // Without a name in the output, if nothing else was put back.
    expect(reasonOf('1 failed', changed('test/sum.test.js'))).toEqual([['expectation', 'test/sum.test.js']]);
    expect(reasonOf('1 failed', changed('test/sum.test.js'), config)).toEqual([
      ['other', 'test/sum.test.js', 'vitest.config.ts'],
    ]);
  });

  it('has a deleted test as its reason, beside a changed one', () => {
    const output = 'not ok 1 - test/gone.test.js\nnot ok 2 - test/sum.test.js';
    expect(reasonOf(output, deleted('test/gone.test.js'), changed('test/sum.test.js'))).toEqual([
      ['deleted_test', 'test/gone.test.js'],
      ['expectation', 'test/sum.test.js'],
    ]);
  });

  it('has a new dependency as its reason when something is not installed and a lock file was put back', () => {
    const lock = changed('package-lock.json');
    const test = changed('test/sum.test.js');
    const missing = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported from test/sum.test.js";
    expect(reasonOf(missing, lock, test)).toEqual([['dependency', 'package-lock.json']]);
    expect(reasonOf("ModuleNotFoundError: No module named 'requests'", changed('pyproject.toml'))).toEqual([
      ['dependency', 'pyproject.toml'],
    ]);
    // A file of the project itself is no dependency.
    expect(reasonOf("Cannot find module '../src/fake.js' of sum.test.js", lock, test)).toEqual([
      ['expectation', 'test/sum.test.js'],
    ]);
    const prepare = oldCheckFindings([{ gate: 'prepare', output: 'npm error' }], [lock, test]);
    expect(prepare).toMatchObject([{ gate: 'prepare', reason: 'dependency', files: ['package-lock.json'] }]);
  });

  it('has another reason when no test explains it', () => {
    expect(reasonOf('1 failed', changed('Makefile'), added('difflib.py'))).toEqual([
      ['other', 'Makefile', 'difflib.py'],
    ]);
  });
});

const judged = (more: Partial<OldChecks>): OldChecks => ({
  ...{ tree: 'tree', judged: 'old', result: 'failed', findings: [], why: '' },
  ...more,
});
const finding = (reason: OldChecks['findings'][number]['reason'], ...files: string[]) =>
  judged({ findings: [{ gate: 'test', reason, files, output: 'expected 4\u001b[31m' }] });

describe('what the target’s own checks say', () => {
  const text = (checks: OldChecks) => oldChecksText(checks, 'main');

  it('is told in plain words, with a reason for each failing gate', () => {
    expect(text(finding('expectation', 'a.test.js'))).toBe(
      [
        "main's own versions of these files fail on the new code, although the changed ones pass:",
        '- test: a changed expectation. The work changes a.test.js, and the version on main fails on the new code. That is right only if the task asks for the new behaviour.',
        '    expected 4',
      ].join('\n'),
    );
    expect(text(finding('deleted_test', 'a.test.js'))).toContain(
      '- test: a deleted test. The work removes a.test.js, which main has and which fails on the new code.',
    );
    expect(text(finding('dependency', 'package-lock.json'))).toContain(
      '- test: a new dependency that main lacks (package-lock.json), so the old checks could not start.',
    );
    expect(text(finding('other', 'Makefile'))).toContain("- test: it fails with main's versions of Makefile.");
  });

  it('is told when they pass, could not be run, or had nothing to check', () => {
    expect(text(judged({ result: 'passed' }))).toBe("main's own versions of these files pass on the new code.");
    expect(text(judged({ result: 'same' }))).toContain('Nothing else was changed');
    expect(text(judged({ result: 'not_run', why: 'Gate test reached its time limit' }))).toMatch(
      /could not be run on the new code\. That says nothing for or against the change: Gate test reached/,
    );
  });
});

describe('an approval of changed checks', () => {
  const hash = (of: string) => `h(${of.replaceAll('\0', ' ')})`;
  const files = [{ file: 'a.test.js', why: 'changed', content: '100644 one a.test.js' }];
  const approval = (checks?: OldChecks) => checksApproval(files, checks, hash);

  it('that was given before they failed does not cover the failure; one of the failure covers both', () => {
    const [before, after] = [{ approvedChecks: [approval()] }, { approvedChecks: [approval(finding('other'))] }];
    expect(isChecksApproved(before, approval(judged({ result: 'passed' })))).toBe(true);
    expect(isChecksApproved(before, approval(finding('other')))).toBe(false);
    expect(isChecksApproved(after, approval())).toBe(true);
    expect(isChecksApproved(after, approval(finding('other')))).toBe(true);
    expect(isChecksApproved(after, approval(finding('deleted_test')))).toBe(false);
    expect([isAcceptedFailure(before, files, hash), isAcceptedFailure(after, files, hash)]).toEqual([false, true]);
  });
});

it('a task keeps its newest results, one for each tree', () => {
  const known = Array.from({ length: 9 }, (_, at) => judged({ tree: `tree-${at}` }));
  const all = known.reduce<OldChecks[]>((before, next) => withJudged(before, next), []);
  expect(all.map(({ tree }) => tree)).toEqual(['tree-3', 'tree-4', 'tree-5', 'tree-6', 'tree-7', 'tree-8']);
  expect(withJudged(all, judged({ tree: 'tree-4', result: 'passed' })).at(-1)).toMatchObject({ result: 'passed' });
});
