import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a folder in memory. To write them again is quicker than what made them. */
export class FolderImage {
  readonly #folders: string[] = [];
  readonly #files: { path: string; bytes: Buffer; mode: number }[] = [];

  constructor(folder: string) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const whole = join(entry.parentPath, entry.name);
      const path = whole.slice(folder.length + 1);
      if (entry.isDirectory()) this.#folders.push(path);
      else this.#files.push({ path, bytes: readFileSync(whole), mode: statSync(whole).mode });
    }
  }

  /** Makes the folder, which must not exist yet. */
  writeTo(folder: string): void {
    mkdirSync(folder);
    for (const path of this.#folders) mkdirSync(join(folder, path), { recursive: true });
    for (const { path, bytes, mode } of this.#files) writeFileSync(join(folder, path), bytes, { mode });
  }
}
