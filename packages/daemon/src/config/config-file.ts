import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { AppError, MAX_CONFIG_CHARS } from '@tidemill/contract';
import { CONFIG_FILE } from './check.ts';

export interface ConfigFile {
  text: string;
  /** Hash of the bytes on disk. */
  hash: string;
}

export async function readConfigFile(root: string): Promise<ConfigFile> {
  return read(await placeOf(root));
}

/** One save at a time, so that the second of two concurrent saves sees the first. */
export class ConfigSaves {
  readonly #saving = new Map<string, Promise<unknown>>();

  /**
   * Replaces the file atomically, so that readers see the old or the new text, never a part. `from` is the hash of the
   * text that was edited.
   */
  async save(root: string, text: string, from: string): Promise<ConfigFile> {
    const before = this.#saving.get(root) ?? Promise.resolve();
    const work = before.then(() => save(root, text, from));
    const settled = work.catch(() => undefined);
    this.#saving.set(root, settled);
    try {
      return await work;
    } finally {
      if (this.#saving.get(root) === settled) this.#saving.delete(root);
    }
  }
}

async function save(root: string, text: string, from: string): Promise<ConfigFile> {
  const place = await placeOf(root);
  const bytes = Buffer.from(text.toWellFormed(), 'utf8');
  const temporary = join(dirname(place), `.config-${randomBytes(6).toString('hex')}.tmp`);
  const { mode } = await stat(place);
  try {
    const file = await open(temporary, 'wx', mode & 0o777);
    try {
      // The umask limits the mode above; restore the file's own mode.
      await file.chmod(mode & 0o777);
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    // Checked as late as possible, because an editor or git may also write the file.
    if ((await read(place)).hash !== from)
      throw new AppError('conflict', `${CONFIG_FILE} has changed since you loaded it`, {
        hint: 'Nothing was saved. Reload the file and make your changes again.',
      });
    await rename(temporary, place);
  } finally {
    await rm(temporary, { force: true });
  }
  return { text: bytes.toString('utf8'), hash: hashOf(bytes) };
}

async function read(place: string): Promise<ConfigFile> {
  const bytes = await readFile(place);
  return { text: bytes.toString('utf8'), hash: hashOf(bytes) };
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** The file's real path. An agent may have added a symbolic link, which must not lead outside the project's files. */
async function placeOf(root: string): Promise<string> {
  const [top, place] = await Promise.all([realpath(root), realpath(join(root, CONFIG_FILE))]).catch(
    (cause: unknown): never => {
      throw new AppError('bad_config', `there is no ${CONFIG_FILE} in ${root}`, {
        hint: 'Run `tidemill init` in the repository to create one.',
        cause,
      });
    },
  );
  const [first] = relative(top, place).split(sep);
  if (first === '..' || first === '.git' || relative(top, place).startsWith(sep))
    throw new AppError('forbidden', `${CONFIG_FILE} is a link to a file outside the project`, {
      hint: 'Replace the link with a file.',
    });
  const found = await stat(place);
  if (!found.isFile())
    throw new AppError('bad_config', `${CONFIG_FILE} is not a file`, { hint: 'Replace it with a file.' });
  if (found.size > MAX_CONFIG_CHARS * 4)
    throw new AppError('too_large', `${CONFIG_FILE} is too large to show here: ${found.size} bytes`, {
      hint: 'Use an editor.',
    });
  return place;
}
