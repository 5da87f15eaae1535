import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootKey } from '../guards/call-log.ts';

// Loaded before every tool of a person's session: no module here may cost time (zod, yaml, the contract).

/** Written by the daemon: hashes of evidence that says pass, one per line. */
export const provenFile = (dataDir: string, root: string) => join(dataDir, 'hooks', `${rootKey(root)}.proven`);

/** Whether a hash is evidence that says pass, as far as the daemon has told. */
export function isProvenIn(dataDir: string, root: string, hash: string): boolean {
  try {
    return readFileSync(provenFile(dataDir, root), 'utf8').split('\n').includes(hash);
  } catch {
    return false; // nothing is known: no daemon has run yet
  }
}
