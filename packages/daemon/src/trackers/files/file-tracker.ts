import { createHash, hash } from 'node:crypto';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { OutsideStatus } from '@tidemill/core';
import {
  type ExternalItem,
  type GoneItem,
  type NewItem,
  type OpenItem,
  type OutsideComment,
  type Tracker,
  type TrackerChanges,
  TrackerError,
} from '../../ports.ts';
import { type ItemFile, readItemFile } from './item-file.ts';
import { type OwnState, OwnStates } from './own-states.ts';

interface Options {
  /** The repository. */
  root: string;
  /** Relative to it. */
  folder: string;
  /** What Tidemill writes is kept here: the files belong to people. */
  dataDir: string;
}

interface Listed {
  /** Without `.md`. */
  name: string;
  path: string;
  mtimeMs: number;
  size: number;
}

/** A longer file is read up to here. */
const MOST_BYTES = 200_000;
const MOST_FILES = 5_000;

/** Markdown files of the repository as items. They are only read; what Tidemill writes is kept beside its other data. */
export class FileTracker implements Tracker {
  readonly name: string;
  readonly url = null;
  readonly #options: Options;
  readonly #own: OwnStates;

  constructor(options: Options) {
    this.#options = options;
    this.name = `files:${options.folder}`;
    this.#own = new OwnStates(join(options.dataDir, 'tracker'));
  }

  async changes(cursor: string | null): Promise<TrackerChanges> {
    const files = await this.#list();
    const states = await this.#own.mark();
    const sum = createHash('sha256').update(states);
    for (const { path, mtimeMs, size } of files) sum.update(`${path}\n${mtimeMs}\n${size}\n`);
    const now = sum.digest('hex');
    if (now === cursor) return { items: [], comments: [], cursor: now, isWhole: false };
    const items: ExternalItem[] = [];
    const faults = new Map<string, string>();
    for (const file of files) {
      try {
        items.push(await this.#read(file));
      } catch (error) {
        faults.set(this.#key(file.name), error instanceof Error ? error.message : String(error));
      }
    }
    return { items: unique(items, faults), comments: [], cursor: now, isWhole: true, faults };
  }

  async items(keys: readonly string[]): Promise<(ExternalItem | GoneItem)[]> {
    if (keys.length === 0) return [];
    const { items, faults } = await this.changes(null);
    const found = new Map(items.map((item) => [item.key, item]));
    // A file that cannot be read may be the one: its id is unknown.
    const isSure = (faults?.size ?? 0) === 0;
    return keys.flatMap((key) => found.get(key) ?? (isSure ? { key, gone: 'its file is gone' } : []));
  }

  async openItems(): Promise<OpenItem[]> {
    const { items } = await this.changes(null);
    return items
      .filter(({ state }) => state === 'open')
      .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
      .map(({ key, content: { title, body } }) => ({ key, title, body }));
  }

  /** Who has something to say edits the file. */
  async comments(): Promise<never[]> {
    return [];
  }

  async comment(key: string, { instance, text }: OutsideComment): Promise<{ id: string }> {
    await this.#change(key, (state) => ({ ...state, comment: { instance, text } }));
    return { id: 'comment' };
  }

  async label(key: string, { add, remove }: { add: readonly string[]; remove: readonly string[] }): Promise<void> {
    await this.#change(key, (state) => {
      const labels = [...state.labels.filter((label) => !remove.includes(label)), ...add];
      return { ...state, labels: [...new Set(labels)] };
    });
  }

  async setStatus(key: string, status: OutsideStatus): Promise<void> {
    await this.#change(key, (state) => ({ ...state, status }));
  }

  async close(key: string): Promise<void> {
    const file = await this.#find(key);
    const text = await readStart(file.path);
    await this.#change(key, (state) => ({ ...state, closedAs: hash('sha256', text) }));
  }

  async reopen(key: string): Promise<void> {
    await this.#change(key, (state) => ({ ...state, closedAs: null }));
  }

  async create(item: NewItem): Promise<{ key: string; url: null }> {
    return { key: this.#key(await this.#own.create(item)), url: null };
  }

  #key(name: string): string {
    return `${this.name}#${name}`;
  }

  async #change(key: string, change: (state: OwnState) => OwnState): Promise<void> {
    const { name } = await this.#find(key);
    await this.#own.change(name, change);
  }

  /** The file of an item, by its id or its name. */
  async #find(key: string): Promise<Listed> {
    for (const file of await this.#list()) {
      if (this.#key(file.name) === key) return file;
      const item = await this.#read(file).catch(() => null);
      if (item?.key === key) return file;
    }
    throw new TrackerError('refused', `${key} is gone: its file was removed or renamed`);
  }

  async #read({ name, path, mtimeMs }: Listed): Promise<ExternalItem> {
    const text = await readStart(path);
    const file = readItemFile(name, text);
    const own = await this.#own.of(name);
    // A person who changes the file after that opens it again.
    const isClosedByUs = own.closedAs !== null && own.closedAs === hash('sha256', text);
    return {
      key: this.#key(file.id),
      url: null,
      author: file.author || 'the repository',
      // Who can change the repository's files can push.
      mayPush: true,
      content: contentOf(file, own, (id) => ({ key: this.#key(id), isDone: false })),
      state: isClosedByUs ? 'closed' : file.state,
      isRejected: file.isRejected,
      updatedAt: new Date(mtimeMs).toISOString(),
      isSelected: file.isSelected,
      marker: own.marker,
    };
  }

  /** Links are not followed: they may lead out of the repository. */
  async #list(): Promise<Listed[]> {
    const { root, folder } = this.#options;
    const real = await realpath(root);
    const place = join(real, folder);
    const inside = await realpath(place).catch(() => place);
    if (inside !== place && !inside.startsWith(`${real}${sep}`))
      throw new TrackerError('access', `the folder ${folder} of the tracker leads out of the repository`);
    const folders = [inside, this.#own.created];
    // Without its folder nothing is known: a person may have another branch checked out.
    if (!(await lstat(inside).catch(() => null)))
      throw new TrackerError('access', `the folder ${folder} of the tracker does not exist here. Create it.`);
    const found = await Promise.all(folders.map(listFolder));
    return found.flat().sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

async function listFolder(folder: string): Promise<Listed[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new TrackerError('offline', `the folder ${folder} cannot be read: ${error.message}`, { cause: error });
  });
  const wanted = names.filter((name) => name.endsWith('.md') && !name.startsWith('.') && !/^readme\.md$/i.test(name));
  // A shorter list would look as if the rest had been removed.
  if (wanted.length > MOST_FILES)
    throw new TrackerError(
      'access',
      `${folder} has more than ${MOST_FILES} files. Move those that are done elsewhere.`,
    );
  const listed = wanted.map(async (name): Promise<Listed[]> => {
    const path = join(folder, name);
    const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw new TrackerError('offline', `${path} cannot be read: ${error.message}`, { cause: error });
    });
    if (!stat?.isFile()) return [];
    return [{ name: name.slice(0, -3), path, mtimeMs: stat.mtimeMs, size: stat.size }];
  });
  return (await Promise.all(listed)).flat();
}

async function readStart(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function contentOf(file: ItemFile, own: OwnState, blocker: (id: string) => { key: string; isDone: boolean }) {
  const { title, body, kind, priority, labels } = file;
  const blockedBy = [...new Set(file.blockedBy)].filter((id) => id !== '' && id !== file.id).map(blocker);
  return { title, body, kind, priority, labels: [...new Set([...labels, ...own.labels])], blockedBy };
}

/** Two files with one id would be one item: the second is a fault. Blockers that are done are marked. */
function unique(items: ExternalItem[], faults: Map<string, string>): ExternalItem[] {
  const byKey = new Map<string, ExternalItem>();
  for (const item of items) {
    if (byKey.has(item.key)) faults.set(item.key, 'two files have this id: give one of them another');
    else byKey.set(item.key, item);
  }
  for (const { content } of byKey.values())
    for (const blocker of content.blockedBy) {
      const other = byKey.get(blocker.key);
      // What has no file cannot be waited for.
      blocker.isDone = other === undefined || (other.state === 'closed' && !other.isRejected);
    }
  return [...byKey.values()];
}
