import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { GitError, gitArgs, gitEnv } from './program.ts';

/**
 * Reads the content of blobs with one long-running git process, which is started when it is first needed. Like the
 * resolver it ends with this process and does not keep it alive.
 */
export interface Blobs {
  /** The blobs of at most `largest` bytes, as long as all of them together have at most `total`. Others are left out. */
  read(oids: readonly string[], limits: { largest: number; total: number }): Promise<Map<string, Buffer>>;
  /** Settles when the process has gone. */
  close(): Promise<void>;
}

export function openBlobs(gitDir: string): Blobs {
  let reader: BlobReader | null = null;
  /** Requests run one after another: their answers have no mark. */
  let last: Promise<unknown> = Promise.resolve();
  const attempt: Blobs['read'] = (oids, limits) => {
    if (!reader || reader.isOver) reader = new BlobReader(gitDir);
    return reader.read(oids, limits);
  };
  return {
    read(oids, limits) {
      const asked = [...new Set(oids)].filter((oid) => /^[0-9a-f]{40,64}$/.test(oid));
      if (asked.length === 0) return Promise.resolve(new Map());
      // A second attempt handles a process that was killed from outside.
      const answer = last.then(() => attempt(asked, limits).catch(() => attempt(asked, limits)));
      last = answer.catch(() => undefined); // its caller gets the error
      return answer;
    },
    async close() {
      await last;
      await reader?.close();
    },
  };
}

class BlobReader {
  readonly #child: ChildProcessWithoutNullStreams;
  #buffer: Buffer[] = [];
  #size = 0;
  #complaint = '';
  #wake: () => void = () => undefined;
  isOver = false;

  constructor(gitDir: string) {
    this.#child = spawn('git', gitArgs(['cat-file', '--batch-command']), {
      cwd: gitDir,
      env: gitEnv({ GIT_DIR: gitDir }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const end = (text: string) => {
      this.isOver = true;
      this.#complaint ||= text;
      this.#wake();
    };
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#buffer.push(chunk);
      this.#size += chunk.length;
      this.#wake();
    });
    this.#child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.#complaint = (this.#complaint + chunk).slice(-4096);
    });
    this.#child.stdin.on('error', (error) => end(error.message));
    this.#child.once('error', (error) => end(error.message));
    this.#child.once('close', (code) => end(`it ended with ${code}`));
  }

  async read(
    oids: readonly string[],
    { largest, total }: { largest: number; total: number },
  ): Promise<Map<string, Buffer>> {
    this.#hold(true);
    try {
      this.#child.stdin.write(oids.map((oid) => `info ${oid}\n`).join(''));
      const wanted: string[] = [];
      let left = total;
      for (const oid of oids) {
        // `OID TYPE SIZE`, or `OID missing`.
        const [, type, size] = (await this.#line()).split(' ');
        if (type !== 'blob' || Number(size) > Math.min(largest, left)) continue;
        wanted.push(oid);
        left -= Number(size);
      }
      this.#child.stdin.write(wanted.map((oid) => `contents ${oid}\n`).join(''));
      const found = new Map<string, Buffer>();
      for (const oid of wanted) {
        const size = Number((await this.#line()).split(' ')[2]);
        found.set(oid, (await this.#take(size + 1)).subarray(0, size));
      }
      return found;
    } finally {
      this.#hold(false);
    }
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.isOver) return;
    this.#hold(true);
    const gone = once(this.#child, 'exit');
    this.#child.stdin.end();
    await gone;
  }

  async #line(): Promise<string> {
    for (let from = 0; ; ) {
      const all = this.#joined();
      const end = all.indexOf(10, from);
      if (end >= 0) return (await this.#take(end + 1)).toString('latin1', 0, end);
      from = all.length;
      await this.#more();
    }
  }

  async #take(size: number): Promise<Buffer> {
    while (this.#size < size) await this.#more();
    const all = this.#joined();
    this.#buffer = [all.subarray(size)];
    this.#size -= size;
    return all.subarray(0, size);
  }

  #joined(): Buffer {
    if (this.#buffer.length > 1) this.#buffer = [Buffer.concat(this.#buffer)];
    return this.#buffer[0] ?? Buffer.alloc(0);
  }

  #more(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const size = this.#size;
    this.#wake = () => {
      if (this.#size > size) resolve();
      else if (this.isOver) reject(new GitError(['cat-file'], null, this.#complaint));
    };
    this.#wake();
    return promise;
  }

  #hold(on: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    const handles = [this.#child, stdin, stdout, stderr] as unknown as { ref?(): void; unref?(): void }[];
    for (const handle of handles) on ? handle.ref?.() : handle.unref?.();
  }
}
