/** Opens new stores at the same moments as other threads do: posts the reason of each failure, then null. */
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteDriver } from '../../packages/daemon/src/store/sqlite.ts';

const { files, arrived, threads } = workerData as { files: string[]; arrived: SharedArrayBuffer; threads: number };
const count = new Int32Array(arrived);
for (const [round, file] of files.entries()) {
  Atomics.add(count, 0, 1);
  while (Atomics.load(count, 0) < threads * (round + 1));
  try {
    await new SqliteDriver(file).close();
  } catch (error) {
    parentPort?.postMessage(String(error));
  }
}
parentPort?.postMessage(null);
