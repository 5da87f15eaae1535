import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../ports.ts';
import { CONFIG_FILE } from './check.ts';

/** Twice this and the reading itself stay below the two seconds that are promised. */
const LOOK_EVERY_MS = 800;
/** All that a project's settings are read from. */
const FOLDERS = ['.tidemill/pipelines', '.tidemill/guards'];

/** A mark that changes whenever one of the files does. */
export async function settingsMark(root: string): Promise<string> {
  const files = [CONFIG_FILE];
  for (const folder of FOLDERS) {
    const names = await readdir(join(root, folder)).catch(() => []);
    files.push(...names.sort().map((name) => `${folder}/${name}`));
  }
  const marks = await Promise.all(files.map((file) => markOf(join(root, file))));
  return files.map((file, index) => `${file} ${marks[index]}`).join('\n');
}

async function markOf(path: string): Promise<string> {
  try {
    const { ino, size, ctimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${ctimeNs}`;
  } catch {
    return 'none';
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
    const now = await settingsMark(root);
    const isSettled = now === before;
    before = now;
    if (now === known || !isSettled) continue;
    known = now;
    await onChange();
  }
}
