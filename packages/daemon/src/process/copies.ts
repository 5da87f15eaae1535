import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';

// Every mount makes each start of a sandbox slower. Where many small files of a folder are visible and others not, they
// are copied once into a separate folder, which is mounted instead.

/** One entry of such a folder. */
export interface Copied {
  /** Relative to the folder. */
  name: string;
  /** A file to copy, text, a link, or a mount point. */
  is: { file: string } | { text: string } | { link: string } | 'folder' | 'empty file';
  /** Changes when the file does. */
  mark: string;
}

const KEPT_MS = 14 * 86_400_000;

export class CopiedFolders {
  /** Folders that this process mounts for its children. */
  readonly #asked = new Set<string>();

  /** Returns a folder with exactly these entries. It is reused until one of them changes. */
  async folderOf(kind: string, entries: Copied[], dataDir: string): Promise<string> {
    const key = createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 24);
    const folder = path.join(dataDir, 'sandbox', `${kind}-${key}`);
    await ensure(folder, entries);
    if (this.#asked.has(folder)) return folder;
    this.#asked.add(folder);
    await this.#tidy(path.dirname(folder)).catch(() => undefined); // a later call removes the rest
    return folder;
  }

  /** A running sandbox may still use an old folder, so only folders that were not used for a long time are removed. */
  async #tidy(all: string): Promise<void> {
    const now = Date.now();
    for (const name of await readdir(all)) {
      const at = path.join(all, name);
      if (this.#asked.has(at)) await utimes(at, now / 1000, now / 1000);
      else if (now - (await stat(at)).mtimeMs > KEPT_MS) await rm(at, { recursive: true, force: true });
    }
  }
}

async function ensure(folder: string, entries: Copied[]): Promise<void> {
  if (await stat(folder).catch(() => null)) return;
  const fresh = `${folder}.${crypto.randomUUID()}`;
  await mkdir(fresh, { recursive: true, mode: 0o700 });
  for (const { name, is } of entries) {
    const at = path.join(fresh, name);
    await mkdir(path.dirname(at), { recursive: true });
    if (is === 'folder') await mkdir(at, { recursive: true });
    else if (is === 'empty file') await writeFile(at, '');
    else if ('text' in is) await writeFile(at, is.text);
    else if ('link' in is) await symlink(is.link, at);
    // A missing or unreadable file is left out.
    else await copyFile(is.file, at, constants.COPYFILE_FICLONE).catch(() => undefined);
  }
  await rename(fresh, folder).catch(async (error: NodeJS.ErrnoException) => {
    await rm(fresh, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // another process was faster
  });
}
