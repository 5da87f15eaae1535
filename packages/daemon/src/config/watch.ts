import { type BigIntStats, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../ports.ts';
import { CONFIG_FILE } from './check.ts';

/** Twice this and the reading itself stay below the two seconds that are promised. */
const LOOK_EVERY_MS = 800;
/** All that a project's settings are read from. */
const FOLDERS = ['.tidemill/pipelines', '.tidemill/guards'];

/**
 * A mark that changes whenever one of the files does. Without promises and without errors for what is missing: it is made
 * for as long as the daemon idles, and takes a tenth of the time that way.
 */
export function settingsMark(root: string): string {
  const files = FOLDERS.flatMap((folder) => namesIn(join(root, folder)).map((name) => `${folder}/${name}`));
  return [CONFIG_FILE, ...files].map((file) => `${file} ${markOf(join(root, file))}`).join('\n');
}

function namesIn(folder: string): string[] {
  if (!statOf(folder)?.isDirectory()) return [];
  try {
    return readdirSync(folder).sort();
  } catch {
    // Removed meanwhile, or not readable: as if nothing were in it.
    return [];
  }
}

function markOf(path: string): string {
  const found = statOf(path);
  return found ? `${found.ino} ${found.size} ${found.ctimeNs}` : 'none';
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A folder above it that may not be entered, or is a file.
    return undefined;
  }
}

/**
 * Calls back when the files have changed since `mark` and then stood still for a look: an editor may write in steps.
 * Looking is surer than being told: a checkout may replace the folder, and some file systems tell nothing.
 */
export async function watchSettings(
  root: string,
  mark: string,
  { clock, signal, onChange }: { clock: Clock; signal: AbortSignal; onChange(): Promise<void> },
): Promise<void> {
  let known = mark;
  let before = mark;
  while (!signal.aborted) {
    await clock.sleep(LOOK_EVERY_MS, signal);
    if (signal.aborted) return;
    const now = settingsMark(root);
    const isSettled = now === before;
    before = now;
    if (now === known || !isSettled) continue;
    known = now;
    await onChange();
  }
}
