import { SpecDraft } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { nextMigrations, sameNumber } from './migration.ts';
import { specFaults } from './validate.ts';

test.each([
  ['db/migrations/004_users.sql', 'db/migrations/4_orders.sql', false],
  ['db/migrations/004_users.sql', 'db/migrations/0004_orders.sql', true],
  ['db/migrations/004_users.up.sql', 'db/migrations/004_users.down.sql', false],
  ['db/migrations/004_users.sql', 'db/migrations/005_orders.sql', false],
  ['a/migrations/004_users.sql', 'b/migrations/004_orders.sql', false],
  ['sql/V4__users.sql', 'sql/V04__orders.sql', true],
  ['sql/V4__users.sql', 'sql/U4__users.sql', false],
  ['app/migrations/0007_tide.py', 'app/migrations/0007_harbour.py', true],
  [
    'prisma/migrations/20260101120000_users/migration.sql',
    'prisma/migrations/20260101120000_orders/migration.sql',
    false,
  ],
  ['fixtures/004_users.sql', 'fixtures/004_orders.sql', false],
  ['docs/004-users.md', 'docs/004-orders.md', false],
  ['docs/migrations/2026-01-01-users.md', 'docs/migrations/2026-02-01-users.md', false],
])('%s and %s have the same number: %s', (one, other, isSame) => {
  expect(sameNumber(one, [other]) !== null).toBe(isSame);
  expect(sameNumber(one, [one])).toBeNull();
});

test('the next number of each folder follows the highest, also of work that is not there yet; dates are not counted', () => {
  const paths = ['db/migrations/009_a.sql', 'db/migrations/002_b.sql', 'src/a.ts', 'db/migrations/010_c.sql'];
  const dated = ['rails/db_migrate/20260101120000_users.rb'];
  expect(nextMigrations([...paths, ...dated, 'app/migrations/0099_x.py'])).toEqual([
    { folder: 'app/migrations', next: '0100' },
    { folder: 'db/migrations', next: '011' },
  ]);
});

test('a specification that gives two new migrations one number is refused with both names', () => {
  const task = (id: string, action: 'create' | 'update', file: string) => ({
    ...{ id, title: `Task ${id}`, phase: 'database', action, files: [file], requirements: ['R1'] },
  });
  const faults = (...tasks: object[]) =>
    specFaults(SpecDraft.parse({ title: 'x', requirements: [{ id: 'R1', text: 'x' }], tasks }));
  const [users, orders] = ['db/migrations/004_users.sql', 'db/migrations/004_orders.sql'] as const;
  expect(faults(task('T1', 'create', users), task('T2', 'create', orders))).toEqual([
    `${orders} and ${users} have the same number: give each migration its own`,
  ]);
  expect(faults(task('T1', 'create', users), task('T2', 'update', orders))).toEqual([]);
});
