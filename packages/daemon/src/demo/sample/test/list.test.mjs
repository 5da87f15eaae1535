import assert from 'node:assert/strict';
import test from 'node:test';
import { commands } from '../lib/commands.mjs';

test('list has one line per turn, in the order of the table', () => {
  const table = [
    { at: 232, kind: 'high', height: 4.9 },
    { at: 606, kind: 'low', height: 0.8 },
  ];
  const lines = commands.list(table, 0).split('\n');
  assert.equal(lines.length, 2);
  assert.match(lines[0], /high water/);
  assert.match(lines[1], /low water/);
});
