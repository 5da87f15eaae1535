import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { writeWhole } from './tree-files.ts';

/** Entries of steps that are no longer in the config are dropped some time. */
const MOST_KEPT = 8;
const Book = z.array(z.object({ steps: z.string(), files: z.array(z.string()) }));

/**
 * Which tracked files the steps were seen to read, on trees of the target. It only grows: a file that was read once may be
 * read again under other conditions. Kept in the data folder, which no sandboxed child can write.
 */
export class PrepareReads {
  readonly #place: string;
  readonly #steps: string;
  #known: Promise<ReadonlySet<string> | null> | undefined;

  /** `steps`: identifies the settings of the steps. */
  constructor(dataDir: string, steps: string) {
    this.#place = path.join(dataDir, 'prepare-reads.json');
    this.#steps = steps;
  }

  /** Null: the steps were not run on the target yet. */
  known(): Promise<ReadonlySet<string> | null> {
    this.#known ??= this.#load().then((book) => {
      const found = book.find(({ steps }) => steps === this.#steps);
      return found ? new Set(found.files) : null;
    });
    return this.#known;
  }

  /** Returns whether something new was learned. */
  async note(files: readonly string[]): Promise<boolean> {
    const known = await this.known();
    if (known && files.every((file) => known.has(file))) return false;
    const all = new Set([...(known ?? []), ...files]);
    const others = (await this.#load()).filter(({ steps }) => steps !== this.#steps);
    const book = [...others.slice(1 - MOST_KEPT), { steps: this.#steps, files: [...all].sort() }];
    await writeWhole(this.#place, JSON.stringify(book));
    this.#known = Promise.resolve(all);
    return true;
  }

  /** A damaged or missing file means that nothing is known: the steps run once more. */
  async #load(): Promise<z.infer<typeof Book>> {
    try {
      return Book.parse(JSON.parse(await readFile(this.#place, 'utf8')));
    } catch {
      return [];
    }
  }
}
