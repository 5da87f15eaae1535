import { lstat, lutimes, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atMost } from './at-most.ts';

/** Older than a day, so that a mount with `relatime` renews it on the next read. */
const LONG_AGO = new Date('2001-02-03T04:05:06Z');
const MOST_WATCHED = 20_000;
const AT_ONCE = 32;

interface Watched {
  ctimeNs: bigint;
  atimeNs: bigint;
}

/** The folders whose files are watched now: gates that run side by side share one. */
const active = new Map<string, Set<AccessTimes>>();

/**
 * Notices which of some files are read, by their access times. The kernel keeps those, so it does not matter how a file
 * is read, under which of its names, or by which process. A program that sets the time back changes the time of the last change,
 * which nobody can set: such a file counts as read. Not noticed: a look without a read, and reading with O_NOATIME.
 */
export class AccessTimes {
  readonly #folder: string;
  readonly #watched = new Map<string, Watched>();
  readonly #read = new Set<string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async begin(folder: string, paths: readonly string[]): Promise<AccessTimes> {
    const times = new AccessTimes(folder);
    const others = active.get(folder) ?? new Set();
    active.set(folder, others.add(times));
    // Setting the times again would hide what the others have read so far.
    for (const other of others) if (other !== times) await other.#look();
    await each(paths.slice(0, MOST_WATCHED), async (path) => {
      const place = join(folder, path);
      const before = await statOf(place);
      if (!before || before.isDirectory()) return;
      await lutimes(place, LONG_AGO, before.mtime).catch(() => undefined);
      const after = await statOf(place);
      if (after) for (const each of others) each.#watch(path, after);
    });
    return times;
  }

  /** Those that were read, in the order of their names, and all that were watched. */
  async end(): Promise<{ read: string[]; watched: string[] }> {
    await this.#look();
    const others = active.get(this.#folder);
    others?.delete(this);
    if (others?.size === 0) active.delete(this.#folder);
    return { read: [...this.#read].sort(), watched: [...this.#watched.keys()] };
  }

  #watch(path: string, { ctimeNs, atimeNs }: Watched): void {
    this.#watched.set(path, { ctimeNs, atimeNs });
  }

  async #look(): Promise<void> {
    await each([...this.#watched], async ([path, { ctimeNs, atimeNs }]) => {
      const now = await statOf(join(this.#folder, path));
      if (!now || now.atimeNs !== atimeNs || now.ctimeNs !== ctimeNs) this.#read.add(path);
    });
  }
}

const statOf = (place: string) => lstat(place, { bigint: true }).catch(() => null);

async function each<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const turn = atMost(AT_ONCE);
  await Promise.all(items.map((item) => turn(() => work(item))));
}

/** Whether reads are noticed in a folder: some file systems keep no access times. */
export async function keepsAccessTimes(folder: string): Promise<boolean> {
  const place = await mkdtemp(join(folder, 'times-'));
  try {
    await writeFile(join(place, 'a'), 'a');
    const times = await AccessTimes.begin(place, ['a']);
    await readFile(join(place, 'a'));
    return (await times.end()).read.length === 1;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
