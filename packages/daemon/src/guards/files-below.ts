import { type Dirent, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { UNKNOWN } from './shell-expansion.ts';

const MOST_ENTRIES = 5_000;
const SKIPPED = new Set(['node_modules', '.git', 'vendor', 'target', '.venv']);
/** Cheap to tell, so that not every source file is looked up: only such names are worth a guard's question. */
const NOTABLE = /^\.|^id_|\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$|credential|secret|service.account/i;

/** Files below a folder whose names suggest that somebody would not want them read by a sweep over everything. */
export function notableFilesBelow(folder: string, cwd: string): string[] {
  if (folder.includes(UNKNOWN) || cwd.includes(UNKNOWN)) return [];
  const found: string[] = [];
  const ahead = [resolve(cwd, folder)];
  let seen = 0;
  for (let at = ahead.shift(); at !== undefined && seen < MOST_ENTRIES; at = ahead.shift()) {
    for (const entry of entriesIn(at)) {
      seen += 1;
      const path = `${at}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) ahead.push(path);
      } else if (NOTABLE.test(entry.name)) found.push(path);
    }
  }
  return found;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // a file, or not there: nothing below it
  }
}
