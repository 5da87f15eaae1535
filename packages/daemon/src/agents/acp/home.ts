import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Preset } from './preset.ts';

/** Where the agent keeps what is its own, in the home folder it will see. */
export function homeFolders(preset: Preset | null, env: Record<string, string>): string[] {
  const home = env.HOME ?? homedir();
  return (preset?.home ?? []).map((folder) => path.join(home, folder));
}

/** A folder that is not there cannot be let into a sandbox; the agent would make it on its first start. */
export async function readyHome(folders: string[]): Promise<void> {
  for (const folder of folders) {
    if (path.extname(folder) === '') await mkdir(folder, { recursive: true });
  }
}
