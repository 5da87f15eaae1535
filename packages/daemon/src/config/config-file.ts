import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { AppError, MAX_CONFIG_CHARS } from '@tidemill/contract';
import { CONFIG_FILE } from './check.ts';

export interface ConfigFile {
  text: string;
  /** Of the very bytes on disk. */
  hash: string;
}

export async function readConfigFile(root: string): Promise<ConfigFile> {
  return read(await placeOf(root));
}

/** One save at a time: of two that started from the same text the second must see the first. */
export class ConfigSaves {
  readonly #saving = new Map<string, Promise<unknown>>();

  /**
   * Replaces the file in one step, so that whoever reads it meanwhile reads the old or the new one, never a part. `from`
   * is the hash of the text that was edited.
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
      // The mode above is cut by the process's mask; the file keeps the one that it had.
      await file.chmod(mode & 0o777);
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    // As late as can be: an editor or git may write the file, too.
    if ((await read(place)).hash !== from)
      throw new AppError('conflict', `${CONFIG_FILE} was changed by somebody else meanwhile`, {
        hint: 'Load it anew and make your changes there; nothing was saved.',
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

/**
 * Where the file really lies. What lands in a repository may have been made by an agent, a link among it: it must not lead
 * a reader or a writer out of the files that are the project's.
 */
async function placeOf(root: string): Promise<string> {
  const [top, place] = await Promise.all([realpath(root), realpath(join(root, CONFIG_FILE))]).catch(
    (cause: unknown): never => {
      throw new AppError('bad_config', `there is no ${CONFIG_FILE} in ${root}`, {
        hint: 'Run `tidemill init` in the repository to make one.',
        cause,
      });
    },
  );
  const [first] = relative(top, place).split(sep);
  if (first === '..' || first === '.git' || relative(top, place).startsWith(sep))
    throw new AppError('forbidden', `${CONFIG_FILE} is a link that leads out of the project's files`, {
      hint: 'Replace the link by a file.',
    });
  const found = await stat(place);
  if (!found.isFile()) throw new AppError('bad_config', `${CONFIG_FILE} is no file`, { hint: 'Replace it by a file.' });
  if (found.size > MAX_CONFIG_CHARS * 4)
    throw new AppError('too_large', `${CONFIG_FILE} is too long to be shown here: ${found.size} bytes`, {
      hint: 'Edit it with an editor.',
    });
  return place;
}
