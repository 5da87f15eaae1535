import { execFile } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Number of newest layers to keep. Each may be large. */
const KEPT_LAYERS = 4;
/** With more changed entries than this, the whole copy is replaced. */
const MOST_REPAIRS = 2_000;

const Layer = z.object({ paths: z.array(z.string()), isMovable: z.boolean() });
type Layer = z.infer<typeof Layer>;
const Place = z.object({ key: z.string(), paths: z.array(z.string()) });

/**
 * Results of `prepare`, stored by the hash of their input files. Each folder gets its own copy, so that an agent or a
 * gate that edits dependencies changes neither the cache nor another folder. Copies are made in advance, so that a new
 * worktree only needs a rename. On file systems that share blocks, a copy costs no space.
 *
 *   prepared/KEY/files   the layer      prepared/KEY/spare   an unused copy
 *   prepared/places/NAME.json   which layer a folder has; the file's time is when it got it
 */
export class Layers {
  readonly #folder: string;
  readonly #sparing = new Map<string, Promise<void>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async find(key: string): Promise<Layer | null> {
    const text = await readFile(this.#at(key, 'layer.json'), 'utf8').catch(() => null);
    return text === null ? null : Layer.parse(JSON.parse(text));
  }

  /** Moves the result from `from` into the layer. */
  async add(key: string, from: string, paths: string[]): Promise<Layer> {
    const files = this.#at(key, 'files');
    await rm(this.#at(key), { recursive: true, force: true });
    await mkdir(files, { recursive: true });
    const layer = { paths, isMovable: await isMovable(from, paths) };
    // Files with absolute paths cannot be used elsewhere, so only this fact is recorded.
    if (layer.isMovable) for (const each of paths) await moveInto(path.join(from, each), path.join(files, each));
    await writeFile(this.#at(key, 'layer.json'), JSON.stringify(layer));
    await this.#forgetOld();
    return layer;
  }

  /** Gives the folder its own copy of the layer. */
  async place(key: string, { paths }: Layer, name: string, folder: string): Promise<void> {
    await this.clear(name, folder);
    await this.#sparing.get(key);
    // Only one process can rename it. The second one makes a copy.
    const spare = this.#at(key, `spare.${name}`);
    const hasSpare = await rename(this.#at(key, 'spare'), spare).then(
      () => true,
      () => false,
    );
    for (const each of paths) {
      const to = path.join(folder, each);
      await rm(to, { recursive: true, force: true });
      if (hasSpare) await moveInto(path.join(spare, each), to);
      else await copyTree(path.join(this.#at(key, 'files'), each), to);
    }
    await rm(spare, { recursive: true, force: true });
    await this.note(name, key, paths);
    const now = new Date();
    await utimes(this.#at(key, 'layer.json'), now, now);
    this.#spareSoon(key, paths);
  }

  /** Records that the folder now has the layer of the key. */
  async note(name: string, key: string, paths: string[]): Promise<void> {
    await mkdir(path.join(this.#folder, 'places'), { recursive: true });
    await writeFile(this.#placeFile(name), JSON.stringify({ key, paths }));
    await nextTick(this.#placeFile(name));
  }

  /** The key of the folder's layer, if it is complete. */
  async has(name: string, folder: string): Promise<string | null> {
    const place = await this.#placeOf(name);
    if (!place) return null;
    const there = await Promise.all(place.paths.map((each) => isThere(path.join(folder, each))));
    return there.every(Boolean) ? place.key : null;
  }

  /** Removes the folder's previous layer. */
  async clear(name: string, folder: string): Promise<void> {
    const place = await this.#placeOf(name);
    for (const each of place?.paths ?? []) await rm(path.join(folder, each), { recursive: true, force: true });
    await rm(this.#placeFile(name), { force: true });
  }

  /**
   * Reverts changes to the folder's copy. They are found by the change time (ctime), which no program can set. Returns
   * false when this is not possible. Then the copy must be replaced.
   */
  async repair(key: string, { paths, isMovable: canCopy }: Layer, name: string, folder: string): Promise<boolean> {
    const changed = await changedSince(this.#placeFile(name), folder, paths);
    if (changed === null || changed.length > MOST_REPAIRS) return false;
    if (changed.length === 0) return true;
    if (!canCopy) return false;
    for (const each of changed) await this.#putRight(this.#at(key, 'files'), folder, each);
    await this.note(name, key, paths);
    return true;
  }

  /** Resolves when no copy is being made in advance. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#sparing.values());
  }

  async #putRight(files: string, folder: string, each: string): Promise<void> {
    const [right, now] = [path.join(files, each), path.join(folder, each)];
    const [wanted, found] = await Promise.all([lstat(right).catch(() => null), lstat(now).catch(() => null)]);
    if (!wanted?.isDirectory() || !found?.isDirectory()) {
      await rm(now, { recursive: true, force: true });
      if (wanted) await copyTree(right, now);
      return;
    }
    const [names, there] = await Promise.all([readdir(right), readdir(now)]);
    for (const extra of there.filter((entry) => !names.includes(entry)))
      await rm(path.join(now, extra), { recursive: true, force: true });
    for (const missing of names.filter((entry) => !there.includes(entry)))
      await copyTree(path.join(right, missing), path.join(now, missing));
  }

  /** In the background, and only if there is no spare copy. */
  #spareSoon(key: string, paths: string[]): void {
    if (this.#sparing.has(key)) return;
    const making = this.#makeSpare(key, paths).finally(() => this.#sparing.delete(key));
    this.#sparing.set(key, making);
    // Without a spare, the next folder gets a new copy, which only takes longer.
    making.catch(() => undefined);
  }

  async #makeSpare(key: string, paths: string[]): Promise<void> {
    const making = this.#at(key, 'spare.making');
    await rm(making, { recursive: true, force: true });
    for (const each of paths) await copyTree(path.join(this.#at(key, 'files'), each), path.join(making, each));
    await rename(making, this.#at(key, 'spare'));
  }

  async #forgetOld(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name !== 'places');
    const used = await Promise.all(
      names.map(async (name) => ({
        name,
        at: (await stat(this.#at(name, 'layer.json')).catch(() => null))?.mtimeMs ?? 0,
      })),
    );
    const old = used.sort((a, b) => b.at - a.at).slice(KEPT_LAYERS);
    for (const { name } of old) await rm(this.#at(name), { recursive: true, force: true });
  }

  async #placeOf(name: string): Promise<z.infer<typeof Place> | null> {
    const text = await readFile(this.#placeFile(name), 'utf8').catch(() => null);
    return text === null ? null : Place.parse(JSON.parse(text));
  }

  #placeFile = (name: string) => path.join(this.#folder, 'places', `${name}.json`);
  #at = (...parts: string[]) => path.join(this.#folder, ...parts);
}

const isThere = (file: string): Promise<boolean> =>
  lstat(file).then(
    () => true,
    () => false,
  );

async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  await rename(from, to);
}

/** Limit of the wait, in case the clock was set back. */
const MOST_LOOKS = 100;

/**
 * File times have a resolution of some milliseconds. Returns when a new change would have a later time than the file,
 * because a change within the same step would not be detected.
 */
async function nextTick(file: string): Promise<void> {
  const { mtimeMs } = await stat(file);
  const probe = `${file}.probe`;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    await delay(1);
    await writeFile(probe, '.');
    if ((await stat(probe)).mtimeMs > mtimeMs) break;
  }
  await rm(probe);
}

/** `cp` is many times faster than copying file by file in Node. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  const sharing = process.platform === 'darwin' ? ['-c'] : process.platform === 'linux' ? ['--reflink=auto'] : [];
  try {
    await run('cp', ['-a', ...sharing, '--', from, to]);
  } catch (error) {
    if (sharing.length === 0) throw error;
    // This system's cp does not support the option.
    await rm(to, { recursive: true, force: true });
    await run('cp', ['-a', '--', from, to]);
  }
}

/** Paths below the folder that changed after the mark, or null if unknown. */
async function changedSince(mark: string, folder: string, paths: string[]): Promise<string[] | null> {
  if (paths.length === 0) return [];
  try {
    const { stdout } = await run('find', [...paths.map((each) => `./${each}`), '-cnewer', mark, '-print0'], {
      cwd: folder,
      maxBuffer: MAX_OUTPUT,
    });
    return stdout
      .split('\0')
      .filter((each) => each !== '')
      .map((each) => each.slice(2));
  } catch {
    // No such program, or a path is missing.
    return null;
  }
}

/**
 * Environments that name their own folder (a Python environment, a link or script with the whole path) cannot be moved.
 */
async function isMovable(from: string, paths: string[]): Promise<boolean> {
  if (paths.length === 0) return true;
  const where = paths.map((each) => `./${each}`);
  const options = { cwd: from, maxBuffer: MAX_OUTPUT };
  const finds = async (...test: string[]) => (await run('find', [...where, ...test], options)).stdout.trim() !== '';
  if (await finds('-name', 'pyvenv.cfg', '-print', '-quit')) return false;
  if (await finds('-type', 'l', '-lname', `${from}/*`, '-print', '-quit')) return false;
  const scripts = ['-type', 'f', '-perm', '-u+x', '-size', '-64k', '-exec', 'grep', '-lFI', '--', from, '{}', '+'];
  // grep exits with 1 when it finds nothing, and find returns that.
  const { stdout } = await run('find', [...where, ...scripts], options).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  return stdout.trim() === '';
}
