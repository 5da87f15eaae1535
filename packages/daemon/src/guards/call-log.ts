import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CallEntry } from '@tidemill/contract';

// Also loaded before every tool of a person's session: no module here may cost time.

/** The older half is dropped when the file is full. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The name of a repository's files in the data folder. */
export const rootKey = (root: string) => createHash('sha256').update(root).digest('hex').slice(0, 24);

/** The newest calls of a repository, one JSON object per line. The file before it has the same name and `.old`. */
export const callFile = (dataDir: string, root: string) => join(dataDir, 'calls', `${rootKey(root)}.jsonl`);

/** Appends a line in one write, so that several processes may append. */
export function appendCall(file: string, entry: CallEntry): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  // If two processes see this, the second one moves a file that is nearly empty. Only old calls are lost.
  if (statSync(file).size > MOST_BYTES) renameSync(file, `${file}.old`);
}
