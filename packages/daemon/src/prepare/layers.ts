import { lstat, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { isKey, taskOf } from './layer-key.ts';
import {
  changedSince,
  copyTree,
  isHeldIn,
  isMovable,
  isThere,
  kilobytesOf,
  moveInto,
  nextTick,
  writeWhole,
} from './tree-files.ts';

/** Number of newest layers to keep, of the target and of tasks each. Each may be large. */
const KEPT_LAYERS = 4;
/** The limit of all layers of tasks together. The newest one stays in any case. */
const TASK_LAYERS_KB = 8 * 1024 * 1024;
/** With more changed entries than this, the whole copy is replaced. */
const MOST_REPAIRS = 2_000;

const Layer = z.object({ paths: z.array(z.string()), isMovable: z.boolean(), kilobytes: z.number().optional() });
type Layer = z.infer<typeof Layer>;
const Place = z.object({ key: z.string(), paths: z.array(z.string()) });

/**
 * Results of `prepare`, stored by their key (see layer-key.ts). Each folder gets its own copy, so that an agent or a
 * gate that edits dependencies changes neither the cache nor another folder. Copies of the target's layers are made in
 * advance, so that a new worktree only needs a rename. On file systems that share blocks, a copy costs no space.
 *
 *   prepared/KEY/files   the layer      prepared/KEY/spare   an unused copy
 *   prepared/places/NAME.json   which layer a folder has; the file's time is when it got it
 */
export class Layers {
  readonly #folder: string;
  readonly #sparing = new Map<string, Promise<void>>();
  /** Layers that are being made or copied: they are not removed. */
  readonly #inUse = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(key: string): Promise<Layer | null> {
    return readJson(this.#at(key, 'layer.json'), Layer);
  }

  /** Keeps the layer of the key while the work runs. */
  async using<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.#inUse.set(key, (this.#inUse.get(key) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#inUse.get(key) ?? 1) - 1;
      if (left > 0) this.#inUse.set(key, left);
      else this.#inUse.delete(key);
    }
  }

  /** Moves the result from `from` into the layer. `shownAt`: the path that the steps saw instead. */
  async add(key: string, from: string, paths: string[], shownAt: string | null): Promise<Layer> {
    const files = this.#at(key, 'files');
    await rm(this.#at(key), { recursive: true, force: true });
    await mkdir(files, { recursive: true });
    const layer: Layer = { paths, isMovable: await isMovable(from, paths, shownAt ?? from) };
    // Files with absolute paths cannot be used elsewhere, so only this fact is recorded.
    if (layer.isMovable) for (const each of paths) await moveInto(path.join(from, each), path.join(files, each));
    const kilobytes = taskOf(key) === null ? null : await kilobytesOf(files);
    if (kilobytes !== null) layer.kilobytes = kilobytes;
    await writeWhole(this.#at(key, 'layer.json'), JSON.stringify(layer));
    await this.#forgetOld();
    return layer;
  }

  /** Removes layers of tasks that are not alive. */
  async tidy(isAlive: (task: number) => boolean): Promise<void> {
    for (const name of await this.#names()) {
      const task = taskOf(name);
      if (task !== null && !isAlive(task) && !this.#inUse.has(name)) await this.#remove(name);
    }
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
    for (const each of await heldPaths(folder, paths)) {
      const to = path.join(folder, each);
      await rm(to, { recursive: true, force: true });
      if (hasSpare) await moveInto(path.join(spare, each), to);
      else await copyTree(path.join(this.#at(key, 'files'), each), to);
    }
    await rm(spare, { recursive: true, force: true });
    await this.note(name, key, paths, folder);
    const now = new Date();
    await utimes(this.#at(key, 'layer.json'), now, now);
    // A layer of a task serves few folders.
    if (taskOf(key) === null) this.#spareSoon(key, paths);
  }

  /** Records that the folder now has the layer of the key. */
  async note(name: string, key: string, paths: string[], folder: string): Promise<void> {
    await mkdir(path.join(this.#folder, 'places'), { recursive: true });
    await writeWhole(this.#placeFile(name), JSON.stringify({ key, paths: await heldPaths(folder, paths) }));
    await nextTick(this.#placeFile(name));
  }

  /** The key of the folder's layer, if it is complete. */
  async has(name: string, folder: string): Promise<string | null> {
    const place = await this.#placeOf(name);
    if (!place) return null;
    const there = await Promise.all(
      place.paths.map(async (each) => (await isHeldIn(folder, each)) && isThere(path.join(folder, each))),
    );
    return there.every(Boolean) ? place.key : null;
  }

  /** Removes the folder's previous layer. */
  async clear(name: string, folder: string): Promise<void> {
    const place = await this.#placeOf(name);
    for (const each of await heldPaths(folder, place?.paths ?? []))
      await rm(path.join(folder, each), { recursive: true, force: true });
    await rm(this.#placeFile(name), { force: true });
  }

  /**
   * Reverts changes to the folder's copy. They are found by the change time (ctime), which no program can set. Returns
   * false when this is not possible. Then the copy must be replaced.
   */
  async repair(key: string, { paths, isMovable: canCopy }: Layer, name: string, folder: string): Promise<boolean> {
    const held = await heldPaths(folder, paths);
    const changed = await changedSince(this.#placeFile(name), folder, held);
    if (changed === null || changed.length > MOST_REPAIRS) return false;
    if (changed.length === 0) return true;
    if (!canCopy) return false;
    for (const each of changed) await this.#putRight(this.#at(key, 'files'), folder, each);
    await this.note(name, key, paths, folder);
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

  /** Names of other forms are of earlier versions, whose layers served everybody. */
  async #forgetOld(): Promise<void> {
    const names = await this.#names();
    const known = await Promise.all(
      names.filter(isKey).map(async (name) => ({
        name,
        at: (await stat(this.#at(name, 'layer.json')).catch(() => null))?.mtimeMs ?? 0,
        kilobytes: (await this.find(name))?.kilobytes ?? 0,
      })),
    );
    const newest = known.sort((a, b) => b.at - a.at);
    const ofTasks = newest.filter(({ name }) => taskOf(name) !== null);
    const sizes = ofTasks.map((_, index) => ofTasks.slice(0, index + 1).reduce((sum, each) => sum + each.kilobytes, 0));
    const kept = [
      ...newest.filter(({ name }) => taskOf(name) === null).slice(0, KEPT_LAYERS),
      ...ofTasks.slice(0, KEPT_LAYERS).filter((_, index) => index === 0 || sizes[index]! <= TASK_LAYERS_KB),
    ].map(({ name }) => name);
    const old = names.filter((name) => !kept.includes(name) && !this.#inUse.has(name));
    for (const name of old) await this.#remove(name);
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => name !== 'places');
  }

  #remove(name: string): Promise<void> {
    return rm(this.#at(name), { recursive: true, force: true });
  }

  #placeOf(name: string): Promise<z.infer<typeof Place> | null> {
    return readJson(this.#placeFile(name), Place);
  }

  #placeFile = (name: string) => path.join(this.#folder, 'places', `${name}.json`);
  #at = (...parts: string[]) => path.join(this.#folder, ...parts);
}

async function heldPaths(folder: string, paths: string[]): Promise<string[]> {
  const held = await Promise.all(paths.map((each) => isHeldIn(folder, each)));
  return paths.filter((_, index) => held[index]);
}

/** Null when it is missing or damaged: what it describes is made again. */
async function readJson<T>(file: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
