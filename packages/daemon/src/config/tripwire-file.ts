import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TripwireFile } from '../ports.ts';

/** In the project's part of the data folder. */
export function createTripwireFile(dataDir: string): TripwireFile {
  const file = join(dataDir, 'tripwires.json');
  return {
    read: () => readFile(file, 'utf8').catch(ifMissing),
    async write(text) {
      await writeFile(`${file}.new`, text, { mode: 0o600 });
      await rename(`${file}.new`, file);
    },
  };
}

function ifMissing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}
