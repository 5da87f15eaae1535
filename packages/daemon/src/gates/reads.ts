import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GateReads } from '@tidemill/core';
import { z } from 'zod';
import type { FolderReads } from '../ports.ts';
import { observingStatus } from '../process/observe.ts';

/** After this time the target is observed again, when its gates are looked at. */
const VALID_MS = 24 * 60 * 60_000;
const MOST_OF_PROOFS = 20_000;

const names = z.array(z.string()).default([]);
const Known = z.object({
  /** When the gate was last observed on the target, and on which tree. */
  at: z.number().default(0),
  tree: z.string().default(''),
  files: names,
  folders: names,
  missing: names,
  seen: names,
  /** Changed files that proofs watched: whether the gate read them. */
  proofs: z.record(z.string(), z.boolean()).default({}),
});
type Known = z.infer<typeof Known>;

/**
 * What each gate was seen to read, by the hash of its settings. Kept in small files of the data folder, which no sandboxed
 * child can read or write.
 */
export class ReadsBook {
  readonly #folder: string;
  readonly #hashes: Record<string, string>;
  readonly #known = new Map<string, Promise<Known>>();
  #writing: Promise<unknown> = Promise.resolve();

  constructor(folder: string, hashes: Record<string, string>) {
    this.#folder = folder;
    this.#hashes = hashes;
  }

  /** `changed`: the files of the change that was proven. Null: everything was observed, on the target. */
  async note(gate: string, tree: string, reads: FolderReads, changed: readonly string[] | null): Promise<void> {
    const known = await this.#of(gate);
    if (changed === null) Object.assign(known, reads, { at: Date.now(), tree });
    else noteProof(known, new Set(reads.files), changed);
    await this.#write(gate, known);
  }

  async all(gates: readonly string[]): Promise<GateReads[]> {
    const books = await Promise.all(gates.map(async (gate) => ({ gate, known: await this.#of(gate) })));
    return books
      .filter(({ known }) => known.at > 0 || Object.keys(known.proofs).length > 0)
      .map(({ gate, known }) => readsOf(gate, known));
  }

  async unobserved(gates: readonly string[]): Promise<string[]> {
    const { traces, times } = await observingStatus();
    if (!traces && !times) return [];
    const ages = await Promise.all(gates.map(async (gate) => ({ gate, at: (await this.#of(gate)).at })));
    return ages.filter(({ at }) => Date.now() - at > VALID_MS).map(({ gate }) => gate);
  }

  #of(gate: string): Promise<Known> {
    const key = this.#keyOf(gate);
    const known = this.#known.get(key) ?? this.#load(key);
    this.#known.set(key, known);
    return known;
  }

  #keyOf(gate: string): string {
    return (this.#hashes[gate] || 'unknown').replace(/[^\w]/g, '').slice(0, 64);
  }

  /** A damaged or missing file means that nothing is known. */
  async #load(key: string): Promise<Known> {
    try {
      return Known.parse(JSON.parse(await readFile(join(this.#folder, `${key}.json`), 'utf8')));
    } catch {
      return Known.parse({});
    }
  }

  #write(gate: string, known: Known): Promise<void> {
    const place = join(this.#folder, `${this.#keyOf(gate)}.json`);
    const turn = this.#writing.then(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeFile(`${place}.new`, JSON.stringify(known), { mode: 0o600 });
      await rename(`${place}.new`, place);
    });
    this.#writing = turn.catch(() => undefined);
    return turn;
  }
}

function noteProof(known: Known, read: ReadonlySet<string>, changed: readonly string[]): void {
  const proofs = new Map(Object.entries(known.proofs));
  for (const path of changed) {
    // Once read, always read: another version of the file may be read under other conditions.
    const wasRead = proofs.get(path) === true || read.has(path);
    proofs.delete(path);
    proofs.set(path, wasRead);
  }
  known.proofs = Object.fromEntries([...proofs].slice(-MOST_OF_PROOFS));
}

function readsOf(gate: string, { files, folders, missing, seen, proofs }: Known): GateReads {
  const watched = Object.entries(proofs);
  return {
    gate,
    files: new Set([...files, ...watched.filter(([, isRead]) => isRead).map(([path]) => path)]),
    folders: new Set(folders),
    missing: new Set(missing),
    seen: new Set(seen),
    watched: new Set(watched.map(([path]) => path)),
  };
}
