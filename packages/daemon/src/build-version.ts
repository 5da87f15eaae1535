import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pageDir } from './assets.ts';
import { PROGRAM_VERSION } from './version.ts';

/** Another one after every change of the program or of the page: an open page notices that it is old. */
export async function buildVersion(): Promise<string> {
  const folder = pageDir();
  if (folder === null) return PROGRAM_VERSION;
  const page = await readFile(join(folder, 'index.html'));
  return `${PROGRAM_VERSION}+${createHash('sha256').update(page).digest('hex').slice(0, 12)}`;
}
