import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOR_GOOD = { recursive: true, force: true, maxRetries: 5 };
const inUse = new Set<string>();
process.once('exit', () => {
  for (const folder of inUse) rmSync(folder, FOR_GOOD);
});

/** A folder that is gone when the work is done, however that ended. */
export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemill-bench-'));
  inUse.add(folder);
  try {
    return await work(folder);
  } finally {
    await rm(folder, FOR_GOOD);
    inUse.delete(folder);
  }
}
