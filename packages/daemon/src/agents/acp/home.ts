import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Preset } from './preset.ts';

/** The agent's own folders, in the home folder that it will see. */
export function homeFolders(preset: Preset | null, env: Record<string, string>): string[] {
  const home = env.HOME ?? homedir();
  return (preset?.home ?? []).map((folder) => path.join(home, folder));
}

/** Creates the folder, because a missing folder cannot be mounted into a sandbox. */
export async function readyHome(folders: string[]): Promise<void> {
  for (const folder of folders) {
    if (path.extname(folder) === '') await mkdir(folder, { recursive: true });
  }
}
