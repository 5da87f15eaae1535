import { type BigIntStats, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../ports.ts';
import { CONFIG_FILE } from './check.ts';

/** Twice this time plus the reading stays below the documented two seconds. */
const LOOK_EVERY_MS = 800;
/** All files of a project's settings. */
const FOLDERS = ['.tidemill/pipelines', '.tidemill/guards', '.tidemill/questions', '.tidemill/agents'];

/**
 * A mark that changes when one of the files changes. It is synchronous and throws no errors for missing files, because it is
 * computed all the time while the daemon is idle, and takes a tenth of the time this way.
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
    // Removed in the meantime, or not readable: treated as empty.
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
    // A parent folder cannot be entered, or is a file.
    return undefined;
  }
}

/**
 * Calls back when the files have changed since `mark` and then stayed the same for one poll: an editor may write in steps.
 * Polling is more reliable than file events: a checkout may replace the folder, and some file systems send no events.
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
