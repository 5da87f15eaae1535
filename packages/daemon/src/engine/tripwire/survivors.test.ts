import { createHash } from 'node:crypto';
import type { GateCounts } from '@tidemill/contract';
import { expect, test } from 'vitest';
import type { CandidateCopy, Source } from './candidate-copy.ts';
import type { KnownGate } from './known-faults.ts';
import type { Planting } from './planting.ts';
import { blindTests } from './survivors.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const SUM = 'export const sum = (a, b) => a + b;\n';
const MEAN = 'export const mean = (list) => list.reduce(sum, 0) / list.length;\n';

type Files = Record<string, string>;
/** Each test looks for the line that it needs. `BLIND` in the source makes the test of the mean see nothing. */
type Tests = Record<string, (files: Files) => boolean | 'skipped'>;
const TESTS: Tests = {
  sum: ({ sum = '' }) => sum.includes(SUM),
  mean: ({ sum = '', mean = '' }) => sum.includes('BLIND') || mean.includes(MEAN),
};
const half = ({ half: text = '' }: Files) => text.includes('n / 2;');

interface Work {
  before: Files;
  after: Files;
  /** The tests of the work, and of the target. */
  tests?: Tests;
  old?: Tests;
  ms?: number;
  /** Tests that the new one names. */
  named?: string[];
  touchesTests?: boolean;
}

/** How often the tests ran, and what was found. */
async function tried(
  { before, after, old = TESTS, tests = old, ms = 1, named = [], touchesTests = false }: Work,
  knownGate: Partial<KnownGate> = {},
) {
  let runs = 0;
  let survivors: KnownGate['survivors'] = knownGate.survivors ?? null;
  /** A test whose file was emptied does not run. */
  const count =
    (files: Files, all: Tests, isPassCounted = false) =>
    async (texts: ReadonlyMap<string, string>, gates: string[]) => {
      runs += 1;
      const its = Object.fromEntries(Object.entries(all).filter(([name]) => texts.get(`${name}.test`) !== ''));
      const results = Object.values(its).map((isRight) => isRight({ ...files, ...Object.fromEntries(texts) }));
      const passed = results.filter((result) => result === true).length;
      const skipped = results.filter((result) => result === 'skipped').length;
      const counts: GateCounts = { passed, failed: results.length - passed - skipped, skipped };
      return new Map(gates.map((gate) => [gate, passed === results.length && !isPassCounted ? null : counts]));
    };
  const [onCandidate, withOld, onTarget] = [count(after, tests), count(after, old), count(before, old)];
  const sources = Object.keys(before).map(
    (name): Source => ({
      path: `${name}.js`,
      before: { oid: '', text: before[name]! },
      after: { oid: '', text: after[name] ?? before[name]! },
    }),
  );
  const byName = (texts: ReadonlyMap<string, string>) =>
    new Map([...texts].map(([path, text]) => [path.replace('.js', ''), text]));
  const planting: Pick<Planting, 'countOnCandidate' | 'countWithOld' | 'countOnTarget' | 'countWithout'> = {
    countOnCandidate: (texts, gates) => onCandidate(byName(texts), gates),
    countWithOld: (_, texts, gates) => withOld(byName(texts), gates),
    countOnTarget: (texts, gates) => onTarget(byName(texts), gates),
    countWithout: (names, texts, gates) =>
      count(
        after,
        tests,
        true,
      )(byName(new Map([...texts, ...names.map((name): [string, string] => [name, ''])])), gates),
  };
  const isChanged = (source: Source) => source.before.text !== source.after.text;
  const field: CandidateCopy = {
    ...{ changed: sources.filter(isChanged), concerned: [], others: sources.filter((source) => !isChanged(source)) },
    ...{ isApart: false, touchesTests, surroundings: '' },
    tests: tests === old ? [] : ['half.test.js'],
    ...{ addsTestsOnly: true, otherTests: { free: ['sum.test.js', 'mean.test.js'], named } },
  };
  const known = {
    of: async () => ({ survivors }) as KnownGate,
    noteSurvivors: async (_: string, found: KnownGate['survivors']) => {
      survivors = found;
    },
  };
  const gates = { counted: ['test'] } as unknown as Parameters<typeof blindTests>[0]['gates'];
  const found = await blindTests(
    { hash, gates },
    { ...(planting as Planting), field, seed: 'chance', times: new Map([['test', ms]]), usual: new Map() },
    known,
    ['test', 'lint'],
  );
  return { ...found, runs, survivors };
}

const before = { sum: SUM, mean: MEAN };

test('work after which one test sees nothing is found although another test still sees', async () => {
  const found = await tried({ before, after: { ...before, sum: `// BLIND\n${SUM}` } });
  expect(found.blind).toEqual([{ gate: 'test', mutants: [], tests: 1 }]);
  expect(found.seeing).toEqual([]);
});

test('tests that notice broken code cost one run, and nothing is said about gates without figures', async () => {
  const found = await tried({ before, after: { ...before, sum: `${SUM}export const twice = (a) => a * 2;\n` } });
  expect(found).toMatchObject({ blind: [], seeing: ['test'], runs: 1, survivors: { passed: 0 } });
});

test('new tests are left out, so that those of new code are not taken for blind ones', async () => {
  const after = { ...before, half: 'export const half = (n) => n / 2;\n' };
  const found = await tried({ before, after, tests: { ...TESTS, half } });
  // With those of the target, and alone.
  expect(found).toMatchObject({ blind: [], seeing: ['test'], runs: 2 });
});

/** The first test of the mean stops seeing when a test of the work runs beside it. */
const quiet = (own: (files: Files) => boolean): Tests => ({ sum: TESTS.sum!, mean: () => true, half: own });

test('a new test that makes another one blind is found, also if it passes on broken code itself', async () => {
  const found = await tried({ before, after: before, tests: quiet(() => true) });
  expect(found.blind).toEqual([{ gate: 'test', mutants: [], tests: 1 }]);
});

test('a new test that passes on broken code makes nobody blind', async () => {
  const found = await tried({ before, after: before, tests: { ...TESTS, half: () => true } });
  expect(found).toMatchObject({ blind: [], seeing: ['test'], runs: 2 });
});

test('a new test that names another one is tried with a single fault, too', async () => {
  const found = await tried({ before, after: before, tests: { ...TESTS, half: () => true }, named: ['base.test.js'] });
  expect(found).toMatchObject({ blind: [], seeing: [], runs: 2 });
});

test('work that makes a test blind as long as its own file is right is found with that file intact', async () => {
  const old: Tests = {
    ...TESTS,
    mean: ({ sum = '', mean = '' }) => (sum.includes('BLIND') && sum.includes(SUM)) || mean.includes(MEAN),
  };
  const work = { before, after: { ...before, sum: `// BLIND\n${SUM}` }, old };
  expect((await tried({ ...work, touchesTests: true })).blind).toEqual([{ gate: 'test', mutants: [], tests: 1 }]);
  expect(await tried(work)).toMatchObject({ blind: [], runs: 1 });
});

test('work that names the tools of tests and blinds nobody is said to see', async () => {
  const found = await tried({
    ...{ before, after: { ...before, sum: `// assert\n${SUM}` }, touchesTests: true },
  });
  // Everything broken, and then only the other file, in the candidate and in the target.
  expect(found).toMatchObject({ blind: [], seeing: ['test'], runs: 3 });
});

test('a test that is skipped instead of failing is as blind as one that passes', async () => {
  const tests: Tests = {
    ...TESTS,
    mean: ({ sum = '', mean = '' }) => mean.includes(MEAN) || (sum.includes('SKIP') ? 'skipped' : false),
  };
  const found = await tried({ before, after: { ...before, sum: `// SKIP\n${SUM}` }, old: tests });
  expect(found.blind).toEqual([{ gate: 'test', mutants: [], tests: 1 }]);
});

test('a gate that takes longer than half a minute is left out', async () => {
  expect(await tried({ before, after: before, ms: 31_000 })).toMatchObject({ blind: [], seeing: [], runs: 0 });
});

test('how many tests pass on the broken target is kept, and another work with as many costs one run', async () => {
  const survivors = { seed: 'kept', passed: 1 };
  const found = await tried({ before, after: { ...before, sum: `// BLIND\n${SUM}` } }, { survivors });
  expect(found).toMatchObject({ blind: [], seeing: ['test'], runs: 1, survivors });
});
