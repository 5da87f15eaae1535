import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SessionFile } from '@tidemill/contract';
import { gitWith } from '../git/program.ts';
import type { Clock, SessionFiles } from '../ports.ts';

export const SESSIONS_FOLDER = '.claude-sessions';
const SUFFIX = '.session';
/** A write that fails is tried again after these; then the next change or heartbeat is the next try. */
const RETRY_MS = [1_000, 2_000, 4_000];

interface SessionFilesOptions {
  /** The repository's root. */
  root: string;
  clock: Clock;
  onNote(text: string, error?: unknown): void;
}

/**
 *   put ──▶ waiting (only the newest) ──▶ temporary file ──rename──▶ there
 *                                             └──fails──▶ 1 s, 2 s, 4 s ──▶ given up until the next put
 * One line of work per worker, so that writes of one file never cross.
 */
export function createSessionFiles(options: SessionFilesOptions): SessionFiles {
  const lines = new Map<string, Line>();
  const lineOf = (name: string) => {
    const line = lines.get(name) ?? new Line(name, options, ready);
    lines.set(name, line);
    return line;
  };
  /** Runs once: excludes the folder from the person's commits. */
  let excluded: Promise<void> | undefined;
  const ready = async () => {
    excluded ??= exclude(options.root);
    await excluded.catch((error: unknown) => {
      excluded = undefined;
      throw error;
    });
    await mkdir(join(options.root, SESSIONS_FOLDER)).catch((error: NodeJS.ErrnoException) => {
      // Never creates the repository's folder: a moved repository must be able to return to its path.
      if (error.code !== 'EEXIST') throw error;
    });
  };
  return {
    put: (file) => lineOf(file.agentId).ask(file),
    drop: (name) => lineOf(name).ask(null),
    async keepOnly(names) {
      const there = await readdir(join(options.root, SESSIONS_FOLDER)).catch(() => []);
      for (const entry of there) {
        const name = /^((?:agent-\d+|review-agent))\.session$/.exec(entry)?.[1];
        if (name && !names.includes(name)) lineOf(name).ask(null);
      }
    },
    settled: async () => void (await Promise.all([...lines.values()].map(({ work }) => work))),
  };
}

/** The writes of one file, one after the other. */
class Line {
  readonly #path: string;
  readonly #name: string;
  readonly #options: SessionFilesOptions;
  readonly #ready: () => Promise<void>;
  /** Undefined: nothing to do. Null: the file must be removed. */
  #wanted: SessionFile | null | undefined;
  work: Promise<void> | null = null;

  constructor(name: string, options: SessionFilesOptions, ready: () => Promise<void>) {
    this.#name = name;
    this.#path = join(options.root, SESSIONS_FOLDER, `${name}${SUFFIX}`);
    this.#options = options;
    this.#ready = ready;
  }

  ask(wanted: SessionFile | null): void {
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
      if (wanted === null) await rm(this.#path, { force: true });
      else if (wanted) await this.#write(wanted);
      if (this.#wanted === wanted) this.#wanted = undefined;
      return true;
    } catch (error) {
      this.#options.onNote(`the session file of ${this.#name} could not be written`, error);
      return false;
    }
  }

  async #write(file: SessionFile): Promise<void> {
    await this.#ready();
    await this.#lookForDamage();
    const temporary = join(dirname(this.#path), `.${this.#name}.${process.pid}.tmp`);
    try {
      await writeFile(temporary, `${JSON.stringify(file, null, 2)}\n`);
      await rename(temporary, this.#path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined); // a folder that cannot be written keeps it, too
      throw error;
    }
  }

  /** Another program may have changed it. It is rewritten from the store, and the damage is logged. */
  async #lookForDamage(): Promise<void> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EISDIR') await rm(this.#path, { recursive: true });
      return;
    }
    if (!isSession(text)) this.#options.onNote(`the session file of ${this.#name} was damaged and is made anew`);
  }
}

function isSession(text: string): boolean {
  try {
    return SessionFile.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

/** In the repository's own list of what git does not look at; a person's .gitignore is theirs. */
async function exclude(root: string): Promise<void> {
  const { stdout } = await gitWith({ cwd: root })([
    'rev-parse',
    '--path-format=absolute',
    '--git-path',
    'info/exclude',
  ]);
  const file = stdout.replace(/\n$/, '');
  const text = await readFile(file, 'utf8').catch(() => '');
  const line = `/${SESSIONS_FOLDER}/`;
  if (text.split('\n').some((each) => each.trim() === line)) return;
  await mkdir(dirname(file), { recursive: true });
  const glue = text === '' || text.endsWith('\n') ? '' : '\n';
  await writeFile(file, `${text}${glue}${line}\n`);
}
