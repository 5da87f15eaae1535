import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inspectStoreFile } from './inspect.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-inspect-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A store as a killed daemon leaves it: the newest rows are in its log only. */
function killedStore(): string {
  const [used, left] = [join(folder, 'used'), join(folder, 'store.db')];
  const db = new DatabaseSync(used);
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE tasks (id TEXT); INSERT INTO tasks VALUES (1), (2), (3)');
  for (const ending of ['', '-wal']) cpSync(used + ending, left + ending);
  db.close();
  rmSync(used);
  return left;
}
const contents = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString('hex')]);

test('an inspection counts the rows in the log of a killed daemon, and changes neither file', async () => {
  const path = killedStore();
  const before = contents();
  expect(before.map(([name]) => name)).toEqual(['store.db', 'store.db-wal']);
  expect(await inspectStoreFile(path)).toEqual({ faults: [], readable: ['3 tasks'] });
  expect(contents()).toEqual(before);
});

test('an inspection of an emptied file keeps its log, from which rows may be recovered', async () => {
  const path = killedStore();
  truncateSync(path, 0);
  const before = contents();
  expect(await inspectStoreFile(path)).toEqual({ faults: ['the file is empty'], readable: [] });
  expect(contents()).toEqual(before);
});
