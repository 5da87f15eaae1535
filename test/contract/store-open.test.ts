import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const THREADS = 3;
const ROUNDS = 60;

test('commands that create the store at the same moment all open it', { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemill-open-'));
  const arrived = new SharedArrayBuffer(4);
  const files = Array.from({ length: ROUNDS }, (_, round) => join(folder, `${round}.db`));
  const failures: string[] = [];
  await Promise.all(
    Array.from({ length: THREADS }, async () => {
      const worker = new Worker(new URL('./store-opener.ts', import.meta.url), {
        workerData: { files, arrived, threads: THREADS },
      });
      worker.on('message', (failure: string | null) => failure !== null && failures.push(failure));
      await once(worker, 'exit');
    }),
  );
  rmSync(folder, { recursive: true });
  expect(failures).toEqual([]);
});
