import assert from 'node:assert/strict';
import test from 'node:test';
import { minutesOf, parseTable } from '../lib/table.mjs';

test('a time becomes minutes since midnight', () => {
  assert.equal(minutesOf('00:00'), 0);
  assert.equal(minutesOf('16:14'), 974);
});

test('a table gives one turn per line', () => {
  const table = parseTable('time,kind,height\n03:52,high,4.9\n10:06,low,0.8\n');
  assert.deepEqual(table, [
    { at: 232, kind: 'high', height: 4.9 },
    { at: 606, kind: 'low', height: 0.8 },
  ]);
});
