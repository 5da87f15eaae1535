import { CATEGORIES } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { KNOWN } from './known.ts';
import { checkSettings, gapOf } from './wanted.ts';

const NOTHING = { workers: null, dailyBudgetUsd: null, monthlyBudgetUsd: null, enabledCategories: null };
const check = (given: Record<string, unknown>) => checkSettings({ ...NOTHING, ...given } as never, KNOWN);

describe('the settings of the editor', () => {
  test('leave everything to the config when they are unset, and nothing is said', () => {
    expect(check({})).toEqual({ settings: NOTHING, problems: [] });
    expect(check({ workers: undefined })).toEqual({ settings: NOTHING, problems: [] });
  });

  test('are taken as they are when they are right', () => {
    const given = { workers: 3, dailyBudgetUsd: 20, monthlyBudgetUsd: 300.5, enabledCategories: ['testing'] };
    expect(check(given)).toEqual({ settings: given, problems: [] });
  });

  test('more than ten agents become ten, with a warning', () => {
    const { settings, problems } = check({ workers: 12 });
    expect(settings.workers).toBe(10);
    expect(problems).toMatchObject([{ severity: 'warning', text: expect.stringContaining('at most 10') }]);
  });

  test.each([[0], [-1], [2.5], ['3'], [{}], [true]])('%j agents become one, with a warning', (workers) => {
    const { settings, problems } = check({ workers });
    expect(settings.workers).toBe(1);
    expect(problems).toMatchObject([{ setting: 'workers', severity: 'warning' }]);
  });

  test.each([[-5], [0], ['50'], [Number.NaN], [1e9], [[]]])(
    'a budget of %j is an error, and the default is used',
    (bad) => {
      const { settings, problems } = check({ dailyBudgetUsd: bad, monthlyBudgetUsd: bad });
      expect(settings).toMatchObject({ dailyBudgetUsd: 50, monthlyBudgetUsd: 500 });
      expect(problems.map(({ severity }) => severity)).toEqual(['error', 'error']);
      expect(problems[0]?.text).toContain('tidemill.dailyBudgetUsd');
    },
  );

  test('unknown categories are left out and named', () => {
    const { settings, problems } = check({ enabledCategories: ['testing', 'tests', 'security', 'testing'] });
    expect(settings.enabledCategories).toEqual(['testing', 'security']);
    expect(problems).toMatchObject([{ severity: 'warning', text: expect.stringContaining('"tests"') }]);
  });

  test.each([['testing'], [{}], [[]], [['nope']]])('%j as categories leaves them to the config', (bad) => {
    const { settings, problems } = check({ enabledCategories: bad });
    expect(settings.enabledCategories).toBeNull();
    expect(problems).toHaveLength(1);
  });
});

test('only settings that differ from those of the daemon are offered', () => {
  const has = { workers: 3, dailyUsd: 50, monthlyUsd: 500, categories: CATEGORIES };
  expect(gapOf(NOTHING, has)).toEqual({});
  const same = { workers: 3, dailyBudgetUsd: 50, monthlyBudgetUsd: 500, enabledCategories: [...CATEGORIES].reverse() };
  expect(gapOf(same, has)).toEqual({});
  expect(gapOf({ ...same, workers: 5, dailyBudgetUsd: 20, enabledCategories: ['testing'] }, has)).toEqual({
    workers: 5,
    dailyUsd: 20,
    categories: ['testing'],
  });
});
