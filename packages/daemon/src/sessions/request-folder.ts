import { hash } from 'node:crypto';
import { constants, statSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionAnswer } from '@tidemill/contract';
import { gitWith } from '../git/program.ts';
import type { TakenRequest } from '../ports.ts';
import { folderFault, SESSIONS_FOLDER, writeWhole } from './folder.ts';
import { readRequest } from './request-text.ts';

const MOST_BYTES = 256_000;
const REQUEST = /^(agent-\d{1,6}|review-agent)\.request\.(json|md)$/;
/** A request that is being carried out. The name survives a crash, so that the next daemon finishes it. */
const TAKEN = /^\.(agent-\d{1,6}|review-agent)\.request\.(json|md)\.taken$/;

/**
 *   NAME.request.json ──unchanged for one look──▶ .NAME.request.json.taken ──▶ carried out ──▶ NAME.answer.json, removed
 *                                                       └── refused: NAME.answer.json, kept as NAME.request.refused
 * Files are opened without following links, and only regular files of this user that git does not track: what an agent
 * committed appears here too when it lands.
 */
export class RequestFolder {
  readonly #root: string;
  readonly #folder: string;
  /** The folder as it was last looked at; empty while requests wait. */
  #mark = '';
  /** Requests seen by the last look, with their state. */
  #seen = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
    this.#folder = join(root, SESSIONS_FOLDER);
  }

  /** Requests that are complete. One look of an idle folder is one call of the system. */
  async take(): Promise<TakenRequest[]> {
    const mark = markOf(this.#folder);
    if (mark === this.#mark) return [];
    if (mark === 'none' || (await folderFault(this.#root)) !== null) return [];
    const names = (await readdir(this.#folder)).sort();
    const repeated = names.filter((name) => TAKEN.test(name));
    const settled = await this.#settled(names.filter((name) => REQUEST.test(name)));
    const waits = this.#seen.size > 0;
    const isSafe = repeated.length + settled.length > 0 && !(await this.#isBusy());
    const tracked = isSafe ? await this.#tracked() : [];
    // Requests that wait are looked at again, also when nothing changes.
    this.#mark = waits || (!isSafe && repeated.length + settled.length > 0) ? '' : mark;
    if (!isSafe) return [];
    const taken: TakenRequest[] = [];
    for (const name of repeated) taken.push(await this.#read(name, TAKEN.exec(name)!, true, tracked));
    for (const name of settled) {
      const found = REQUEST.exec(name)!;
      const held = `.${name}.taken`;
      // Another look takes it: one request of a worker at a time.
      if (repeated.includes(held)) continue;
      await rename(join(this.#folder, name), join(this.#folder, held));
      this.#seen.delete(name);
      taken.push(await this.#read(held, found, false, tracked));
    }
    return taken;
  }

  /** Those that did not change since the last look: a program may write in steps. */
  async #settled(names: string[]): Promise<string[]> {
    const before = this.#seen;
    this.#seen = new Map();
    for (const name of names) {
      const found = await lstat(join(this.#folder, name), { bigint: true }).catch(() => null);
      if (found) this.#seen.set(name, `${found.ino} ${found.size} ${found.mtimeNs}`);
    }
    return [...this.#seen].flatMap(([name, state]) => (before.get(name) === state ? [name] : []));
  }

  /** While git checks out, files are there before its index lists them. */
  async #isBusy(): Promise<boolean> {
    const { stdout } = await gitWith({ cwd: this.#root })([
      'rev-parse',
      '--path-format=absolute',
      '--git-path',
      'index.lock',
    ]);
    return (await lstat(stdout.replace(/\n$/, '')).catch(() => null)) !== null;
  }

  async #tracked(): Promise<string[]> {
    const { stdout } = await gitWith({ cwd: this.#root })(['ls-files', '-z', '--', SESSIONS_FOLDER]);
    return stdout.split('\0').filter((name) => name !== '');
  }

  async #read(held: string, [, agentId, format]: RegExpExecArray, isRepeated: boolean, tracked: string[]) {
    const path = join(this.#folder, held);
    const fault = (text: string) => ({ asked: { fault: text }, key: held });
    const content =
      tracked.length > 0
        ? fault(
            `git tracks ${tracked[0]}, so an agent may have written it; take ${SESSIONS_FOLDER} out of the repository`,
          )
        : await contentOf(path, format as 'json' | 'md').catch((error: NodeJS.ErrnoException) =>
            fault(error.code === 'ELOOP' ? 'it is a link' : `it cannot be read: ${error.code ?? error.message}`),
          );
    return {
      agentId: agentId!,
      ...content,
      isRepeated,
      answer: async (answer: SessionAnswer) => {
        await writeWhole(join(this.#folder, `${agentId}.answer.json`), `${JSON.stringify(answer, null, 2)}\n`);
        const refused = join(this.#folder, `${agentId}.request.refused`);
        if (!answer.ok) await rm(refused, { force: true, recursive: true });
        if (answer.ok) await rm(path, { force: true });
        else await rename(path, refused);
      },
    } satisfies TakenRequest;
  }
}

async function contentOf(path: string, format: 'json' | 'md'): Promise<Pick<TakenRequest, 'asked' | 'key'>> {
  // NONBLOCK: a pipe must not hold the daemon up.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await read(file, format);
  } finally {
    await file.close();
  }
}

async function read(file: FileHandle, format: 'json' | 'md'): Promise<Pick<TakenRequest, 'asked' | 'key'>> {
  const found = await file.stat({ bigint: true });
  const key = `${found.ino} ${found.mtimeNs}`;
  const no = (fault: string) => ({ asked: { fault }, key });
  if (!found.isFile()) return no('it is not a regular file');
  if (found.nlink > 1n) return no('it has a second name elsewhere');
  if (process.getuid && found.uid !== BigInt(process.getuid())) return no('it belongs to another user');
  if (found.size > BigInt(MOST_BYTES)) return no(`it has more than ${MOST_BYTES / 1000} kB`);
  const buffer = Buffer.alloc(MOST_BYTES);
  const { bytesRead } = await file.read(buffer, 0, MOST_BYTES, 0);
  const text = buffer.toString('utf8', 0, bytesRead);
  return { asked: readRequest(text, format), key: hash('sha256', `${key} ${text}`) };
}

function markOf(folder: string): string {
  try {
    const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
    return found ? `${found.ino} ${found.mtimeNs}` : 'none';
  } catch {
    return 'none'; // a parent folder cannot be entered
  }
}
