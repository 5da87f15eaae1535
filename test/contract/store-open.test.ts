import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inspectStoreFile } from '../../packages/daemon/src/store/inspect.ts';

const THREADS = 3;
const ROUNDS = 40;
const OPENINGS = 400;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-open-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Opens and closes each of these stores in a thread. Returns why some could not be opened. */
async function opened(files: string[], threads: number, arrived = new SharedArrayBuffer(4)): Promise<string[]> {
  const failures: string[] = [];
  const workerData = { files, arrived, threads };
  const worker = new Worker(new URL('./store-opener.ts', import.meta.url), { workerData });
  worker.on('message', (failure: string | null) => failure !== null && failures.push(failure));
  await once(worker, 'exit');
  return failures;
}

test('commands that create the store at the same moment all open it', { timeout: 180_000 }, async () => {
  const arrived = new SharedArrayBuffer(4);
  const files = Array.from({ length: ROUNDS }, (_, round) => join(folder, `${round}.db`));
  const failures = await Promise.all(Array.from({ length: THREADS }, () => opened(files, THREADS, arrived)));
  expect(failures.flat()).toEqual([]);
});

test('a store that another command opens and closes meanwhile is read as sound', { timeout: 180_000 }, async () => {
  const file = join(folder, 'store.db');
  await opened([file], 1);
  let isOpening = true;
  const opening = opened(Array(OPENINGS).fill(file), 1).finally(() => {
    isOpening = false;
  });
  const faults: string[] = [];
  while (isOpening) faults.push(...((await inspectStoreFile(file))?.faults ?? []));
  expect(await opening).toEqual([]);
  expect(faults).toEqual([]);
});
