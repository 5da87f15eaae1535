import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** The files of a folder in memory. To write them again is quicker than what made them. */
export class FolderImage {
  readonly #folders: string[] = [];
  readonly #files: { path: string; bytes: Buffer; mode: number }[] = [];
  readonly #links: { path: string; to: string }[] = [];

  constructor(folder: string) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const whole = join(entry.parentPath, entry.name);
      const path = whole.slice(folder.length + 1);
      if (entry.isDirectory()) this.#folders.push(path);
      else if (entry.isSymbolicLink()) this.#links.push({ path, to: readlinkSync(whole) });
      else this.#files.push({ path, bytes: readFileSync(whole), mode: statSync(whole).mode });
    }
  }

  /** Overwrites what is there, but not what is read-only: objects of git never change. */
  writeTo(folder: string): void {
    for (const path of ['', ...this.#folders]) mkdirSync(join(folder, path), { recursive: true });
    for (const { path, bytes, mode } of this.#files) {
      const isFixed = (mode & 0o222) === 0;
      if (!isFixed || !existsSync(join(folder, path))) writeFileSync(join(folder, path), bytes, { mode });
    }
    for (const { path, to } of this.#links) symlinkSync(to, join(folder, path));
  }
}
