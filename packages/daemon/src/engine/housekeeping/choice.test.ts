import fc from 'fast-check';
import { expect, test } from 'vitest';
import { candidates, chooseFiles, expiry, type FileLimits, type FileOwner } from './choice.ts';

const DAY = 24 * 60 * 60_000;
const NOW = 1000 * DAY;
const file = (id: string, days: number, bytes = 10) => ({ id, bytes, at: NOW - days * DAY });
const ended = (days: number, more: Partial<FileOwner> = {}): FileOwner => ({
  projectId: 'p',
  endedAt: NOW - days * DAY,
  isLanded: false,
  ...more,
});
const limits = (more: Partial<FileLimits> = {}): FileLimits => ({
  expiry: expiry(30, NOW),
  landedExpiry: expiry(365, NOW),
  mostBytes: Number.POSITIVE_INFINITY,
  ...more,
});
const choose = (files: ReturnType<typeof file>[], owners: Record<string, FileOwner>, given = limits()) => {
  const { aged, oversized } = chooseFiles(
    files,
    (id) => owners[id],
    (projectId) => (projectId === 'p' ? given : undefined),
  );
  return [aged.map(({ id }) => id), oversized.map(({ id }) => id)];
};

test('housekeeping removes a file when both it and its task are older than the age', () => {
  const files = [file('old', 40), file('rewritten', 1), file('late', 40), file('unfinished', 400)];
  const unfinished: FileOwner = { ...ended(400), endedAt: null };
  expect(choose(files, { old: ended(31), rewritten: ended(31), late: ended(29), unfinished })).toEqual([['old'], []]);
});

test('housekeeping keeps what a landed commit names for its own time, whatever the size', () => {
  const files = [file('a', 100), file('b', 366), file('c', 5)];
  const owners = { a: ended(100, { isLanded: true }), b: ended(366, { isLanded: true }), c: ended(5) };
  expect(choose(files, owners, limits({ mostBytes: 5 }))).toEqual([['b'], ['c']]);
});

test('housekeeping removes the oldest files of finished tasks while the total is above the size', () => {
  const files = [file('new', 1), file('older', 3), file('oldest', 4), file('busy', 9)];
  const owners = { new: ended(1), older: ended(3), oldest: ended(4), busy: { ...ended(9), endedAt: null } };
  expect(choose(files, owners, limits({ mostBytes: 25 }))).toEqual([[], ['oldest', 'older']]);
});

test('housekeeping removes nothing with the age never, and no file of nobody or of an unlimited project', () => {
  const files = [file('a', 9000), file('unknown', 9000), file('other', 9000)];
  const owners = { a: ended(9000), other: ended(9000, { projectId: 'q' }) };
  expect(choose(files, owners, limits({ expiry: expiry('never', NOW) }))).toEqual([[], []]);
  expect(choose(files, owners)).toEqual([['a'], []]);
});

test('housekeeping never chooses a file of an unfinished task, and only candidates', () => {
  const anyOwner = fc.record({
    projectId: fc.constantFrom('p', 'q', null),
    endedAt: fc.option(fc.integer({ min: 0, max: NOW })),
    isLanded: fc.boolean(),
  });
  const entry = fc.record({ days: fc.integer({ min: 0, max: 900 }), bytes: fc.nat(1000), owner: anyOwner });
  fc.assert(
    fc.property(fc.array(entry), fc.integer({ min: 1, max: 5000 }), (entries, mostBytes) => {
      const files = entries.map(({ days, bytes }, index) => file(String(index), days, bytes));
      const given = limits({ mostBytes });
      const all = chooseFiles(
        files,
        (id) => entries[Number(id)]!.owner,
        () => given,
      );
      const some = chooseFiles(
        candidates(files, [given]),
        (id) => entries[Number(id)]!.owner,
        () => given,
      );
      expect(some).toEqual(all);
      for (const { id } of [...all.aged, ...all.oversized]) expect(entries[Number(id)]!.owner.endedAt).not.toBeNull();
    }),
  );
});
