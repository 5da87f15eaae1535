import { expect, test } from 'vitest';
import { keyedLocks, makeLock } from './lock.ts';

/** Work that is done when it is told to, and what has begun and ended so far. */
function works() {
  const said: string[] = [];
  const make = (name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const work = async () => {
      said.push(`${name} begins`);
      await promise.finally(() => said.push(`${name} ends`));
      return name;
    };
    return { work, end: resolve, fail: () => reject(new Error(name)) };
  };
  return { said, make };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a lock runs work one at a time, in order', async () => {
  const lock = makeLock();
  const { said, make } = works();
  const [one, two] = [make('one'), make('two')];
  const results = [lock(one.work), lock(two.work)];
  two.end();
  await settled();
  expect(said).toEqual(['one begins']);
  one.end();
  expect(await Promise.all(results)).toEqual(['one', 'two']);
  expect(said).toEqual(['one begins', 'one ends', 'two begins', 'two ends']);
});

test('a failure goes to its own caller, and the next work runs', async () => {
  const lock = makeLock();
  const failed = lock(() => Promise.reject(new Error('no')));
  const next = lock(async () => 'next');
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('next');
});

test('locks of different keys do not wait for each other, those of one key do, also after a failure', async () => {
  const locks = keyedLocks();
  const { said, make } = works();
  const [one, two, other] = [make('one'), make('two'), make('other')];
  const first = locks('a')(one.work);
  const second = locks('a')(two.work);
  const third = locks('b')(other.work);
  await settled();
  expect(said).toEqual(['one begins', 'other begins']);
  one.fail();
  await expect(first).rejects.toThrow('one');
  await settled();
  expect(said).toEqual(['one begins', 'other begins', 'one ends', 'two begins']);
  const late = make('late');
  const fourth = locks('a')(late.work);
  await settled();
  expect(said).not.toContain('late begins');
  for (const each of [two, other, late]) each.end();
  expect(await Promise.all([second, third, fourth])).toEqual(['two', 'other', 'late']);
});
