import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  loadRequirements,
  parseRequirements,
  type RanTest,
  type Requirement,
  titlePattern,
  unproven,
} from './requirements.ts';

const ran = (file: string, titles: string[], state: RanTest['state'] = 'passed'): RanTest => ({ file, titles, state });
const needs = (id: string, ...proofs: [file: string, test: string][]): Requirement => ({
  id,
  requirement: 'the door opens',
  proofs: proofs.map(([file, title]) => ({ file, test: title })),
});
const SKIPPED = 'R-1 has no proof in this run: every test that it names was skipped';
const UNKNOWN = 'R-1 has no proof in this run: no test has a title that it names';

describe('a criterion is unproven', () => {
  test.each<[why: string, proofs: [string, string][], tests: RanTest[], says: string]>([
    ['when its test was skipped', [['a', 'opens']], [ran('a', ['opens'], 'skipped')], SKIPPED],
    ['when its suite was skipped', [['a', 'door']], [ran('a', ['door', 'opens'], 'skipped')], SKIPPED],
    ['when no test has the title', [['a', 'opens']], [ran('a', ['opens again'])], UNKNOWN],
    ['when only a test of another file passed', [['a', 'opens']], [ran('a', ['x']), ran('b', ['opens'])], UNKNOWN],
    [
      'when every row of a table was skipped',
      [['a', 'opens %s']],
      [ran('a', ['opens x'], 'skipped'), ran('a', ['opens y'], 'skipped'), ran('a', ['closes'])],
      SKIPPED,
    ],
    [
      'when one test was skipped and another does not exist',
      [
        ['a', 'opens'],
        ['a', 'closes'],
      ],
      [ran('a', ['opens'], 'skipped')],
      SKIPPED,
    ],
    [
      'when its quick test was skipped, whatever its long test does in another run',
      [
        ['a.test.ts', 'opens'],
        ['a.long.test.ts', 'opens'],
      ],
      [ran('a.test.ts', ['opens'], 'skipped')],
      SKIPPED,
    ],
  ])('%s', (_why, proofs, tests, says) => {
    expect(unproven([needs('R-1', ...proofs)], tests)).toEqual([says]);
  });
});

describe('a criterion is proven', () => {
  test.each<[why: string, proofs: [string, string][], tests: RanTest[]]>([
    ['when its test passed', [['a', 'opens']], [ran('a', ['door', 'opens'])]],
    ['when a test of its suite passed', [['a', 'door']], [ran('a', ['door', 'x'], 'skipped'), ran('a', ['door', 'y'])]],
    ['when one row of a table ran', [['a', '%s']], [ran('a', ['x'], 'skipped'), ran('a', ['y'])]],
    [
      'when one of two tests ran',
      [
        ['a', 'opens'],
        ['b', 'opens'],
      ],
      [ran('a', ['opens'], 'skipped'), ran('b', ['opens'])],
    ],
    ['when its test failed, which the run reports itself', [['a', 'opens']], [ran('a', ['opens'], 'failed')]],
    ['in a run that has none of its files', [['a', 'opens']], [ran('b', ['opens'], 'skipped')]],
    ['when it is not built and names nothing', [], [ran('a', ['opens'])]],
  ])('%s', (_why, proofs, tests) => {
    expect(unproven([needs('R-1', ...proofs)], tests)).toEqual([]);
  });
});

test('each criterion without a proof has its own sentence', () => {
  const all = [needs('R-1', ['a', 'x']), needs('R-2', ['a', 'opens']), needs('R-3', ['a', 'y'])];
  expect(unproven(all, [ran('a', ['opens'])]).map((text) => text.split(' ')[0])).toEqual(['R-1', 'R-3']);
});

describe('the title in the source', () => {
  test.each([
    ['opens %s', 'opens a door\nof two lines'],
    ['%s %i: %j → %o', 'a 1: {} → []'],
    ['case %# of %%', 'case 3 of %'],
    ['$name opens', 'front opens'],
    ['opens $door.name $#', 'opens front 2'],
    [`each of \${TASKS[name]} tasks`, 'each of 300 tasks'],
    ['costs 5 $ (a.b)', 'costs 5 $ (a.b)'],
    ["the door\\'s handle", "the door's handle"],
  ])('%j matches %j', (title, reported) => {
    expect(reported).toMatch(titlePattern(title));
  });

  test.each([
    ['opens', 'opens again'],
    ['opens', 'it opens'],
    ['a.b', 'axb'],
    ['opens %s', 'closes a door'],
  ])('%j does not match %j', (title, reported) => {
    expect(reported).not.toMatch(titlePattern(title));
  });
});

describe('test/requirements.yaml', () => {
  test('has all 142 numbered criteria', () => {
    const all = loadRequirements(join(import.meta.dirname, '..'));
    expect(all.filter(({ id }) => /^AC-[1-5]\.[1-5]\.[a-f]$/.test(id))).toHaveLength(142);
  });

  test('is refused when a proof has no title', () => {
    const criteria = [{ id: 'R-1', requirement: 'opens', proofs: [{ file: 'a.test.ts' }] }];
    expect(() => parseRequirements(JSON.stringify([{ section: 'A', criteria }]))).toThrow('test');
  });
});
