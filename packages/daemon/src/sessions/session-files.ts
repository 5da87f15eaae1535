import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SessionFile } from '@tidemill/contract';
import type { Clock, SessionFiles } from '../ports.ts';
import { folderFault, prepareFolder, SESSIONS_FOLDER, WORKER_FILE, writeWhole } from './folder.ts';
import { responseText } from './response-text.ts';

/** A write that fails is tried again after these; then the next change or heartbeat is the next try. */
const RETRY_MS = [1_000, 2_000, 4_000];
const MOST_BYTES = 100_000;

interface SessionFilesOptions {
  /** The repository's root. */
  root: string;
  clock: Clock;
  onNote(text: string, error?: unknown): void;
}

/**
 *   put ──▶ waiting (only the newest) ──▶ temporary file ──rename──▶ there
 *                                             └──fails──▶ 1 s, 2 s, 4 s ──▶ given up until the next put
 * One line of work per file, so that writes of one file never cross.
 */
export function createSessionFiles(options: SessionFilesOptions): SessionFiles {
  const lines = new Map<string, Line>();
  const lineOf = (file: string) => {
    const line = lines.get(file) ?? new Line(file, options, ready);
    lines.set(file, line);
    return line;
  };
  let isExcluded = false;
  const ready = async () => {
    await prepareFolder(options.root, isExcluded);
    isExcluded = true;
  };
  return {
    put: (file) => lineOf(`${file.agentId}.session`).ask(`${JSON.stringify(file, null, 2)}\n`),
    respond: (name, response) => lineOf(`${name}.response.md`).ask(response && responseText(response)),
    drop: (name) => {
      for (const suffix of ['session', 'response.md', 'answer.json']) lineOf(`${name}.${suffix}`).ask(null);
    },
    async keepOnly(names) {
      const there = await readdir(join(options.root, SESSIONS_FOLDER)).catch(() => []);
      for (const entry of there) {
        const name = WORKER_FILE.exec(entry)?.[1];
        if (name && !names.includes(name)) lineOf(entry).ask(null);
      }
    },
    settled: async () => void (await Promise.all([...lines.values()].map(({ work }) => work))),
  };
}

/** The writes of one file, one after the other. */
class Line {
  readonly #path: string;
  /** What it is called in notes. */
  readonly #called: string;
  readonly #options: SessionFilesOptions;
  readonly #ready: () => Promise<void>;
  /** Undefined: nothing to do. Null: the file must be removed. */
  #wanted: string | null | undefined;
  work: Promise<void> | null = null;

  constructor(file: string, options: SessionFilesOptions, ready: () => Promise<void>) {
    this.#path = join(options.root, SESSIONS_FOLDER, file);
    const [name, kind] = [file.slice(0, file.indexOf('.')), file.endsWith('.session') ? 'session' : 'response'];
    this.#called = `the ${kind} file of ${name}`;
    this.#options = options;
    this.#ready = ready;
  }

  ask(wanted: string | null): void {
    // A file that is removed and then written again is removed first: a reset keeps no old content.
    this.#wanted = wanted;
    this.work ??= this.#run().finally(() => {
      this.work = null;
    });
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (this.#wanted !== undefined) {
      failures = (await this.#try()) ? 0 : failures + 1;
      const pauseMs = failures > 0 ? RETRY_MS[failures - 1] : 0;
      if (pauseMs === undefined) this.#wanted = undefined;
      else if (pauseMs > 0) await this.#options.clock.sleep(pauseMs);
    }
  }

  /** Always with the newest that is wanted. */
  async #try(): Promise<boolean> {
    const wanted = this.#wanted;
    try {
      if (wanted === null) await this.#remove();
      else if (wanted !== undefined) await this.#write(wanted);
      if (this.#wanted === wanted) this.#wanted = undefined;
      return true;
    } catch (error) {
      this.#options.onNote(`${this.#called} could not be written`, error);
      return false;
    }
  }

  async #remove(): Promise<void> {
    // Through a link, somebody else's file would be removed.
    if ((await folderFault(this.#options.root)) === null) await rm(this.#path, { force: true });
  }

  async #write(text: string): Promise<void> {
    await this.#ready();
    if (this.#path.endsWith('.session')) await this.#lookForDamage();
    await writeWhole(this.#path, text);
  }

  /** Another program may have changed it. It is rewritten from the store, and the damage is logged. */
  async #lookForDamage(): Promise<void> {
    const found = await lstat(this.#path).catch(() => null);
    if (found === null) return;
    if (found.isDirectory()) await rm(this.#path, { recursive: true });
    else if (found.isFile() && found.size <= MOST_BYTES && isSession(await readFile(this.#path, 'utf8'))) return;
    else this.#options.onNote(`${this.#called} was damaged and is made again`);
  }
}

function isSession(text: string): boolean {
  try {
    return SessionFile.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
