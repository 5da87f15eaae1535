import { hash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { NewItem } from '../../ports.ts';

/** What Tidemill says about an item. */
const OwnState = z.object({
  name: z.string(),
  labels: z.array(z.string()).default([]),
  status: z.string().nullable().default(null),
  comment: z.object({ instance: z.string(), text: z.string() }).nullable().default(null),
  /** The hash of the file when it was closed. */
  closedAs: z.string().nullable().default(null),
  marker: z.string().nullable().default(null),
});
export type OwnState = z.infer<typeof OwnState>;

/** A file per item in the data folder, replaced as a whole. */
export class OwnStates {
  readonly #folder: string;
  /** Items that Tidemill itself proposed. */
  readonly created: string;

  constructor(folder: string) {
    this.#folder = join(folder, 'states');
    this.created = join(folder, 'items');
  }

  /** Changes when one of them does. */
  async mark(): Promise<string> {
    const names = await readdir(this.#folder).catch(missing);
    const stats = await Promise.all(names.sort().map((name) => stat(join(this.#folder, name)).catch(() => null)));
    return names.map((name, index) => `${name} ${stats[index]?.mtimeMs ?? ''}`).join('\n');
  }

  async of(name: string): Promise<OwnState> {
    const text = await readFile(this.#file(name), 'utf8').catch(() => null);
    const parsed = text === null ? null : OwnState.safeParse(parsedJson(text));
    // A damaged file says nothing; the next write replaces it.
    return parsed?.success ? parsed.data : OwnState.parse({ name });
  }

  async change(name: string, change: (state: OwnState) => OwnState): Promise<void> {
    await replace(this.#folder, this.#file(name), `${JSON.stringify(change(await this.of(name)), null, 2)}\n`);
  }

  /** Its name comes from the marker, so that a repetition finds it. */
  async create({ title, body, labels, marker }: NewItem): Promise<string> {
    const name = `own-${hash('sha256', marker).slice(0, 12)}`;
    const head = `---\ntitle: ${JSON.stringify(title)}\nlabels: ${JSON.stringify(labels)}\nauthor: Tidemill\n---\n\n`;
    await replace(this.created, join(this.created, `${name}.md`), `${head}${body}\n`);
    await this.change(name, (state) => ({ ...state, marker }));
    return name;
  }

  #file(name: string): string {
    return join(this.#folder, `${hash('sha256', name).slice(0, 24)}.json`);
  }
}

async function replace(folder: string, file: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, file);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function missing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
