import { posix } from 'node:path';
import type { FolderReads } from '../ports.ts';

/** Names kept of one run. A program that opens millions of files must not fill the memory. */
const MOST_NAMES = 100_000;
const LONGEST_LINE = 64 * 1024;

/** Calls that look at a path, and those that open or execute a file. */
export const TRACED_CALLS = '%file,getdents,getdents64,fchdir';
const OPENS = new Set(['open', 'openat', 'openat2', 'creat', 'execve', 'execveat']);
const CHANGES_ONLY = /^(mount|umount2?|pivot_root|chroot|mkdir(at)?|rmdir|mknod(at)?|unlink(at)?|utime\w*|swapo\w+)$/;
const ABSENT = /= -1 (ENOENT|ENOTDIR)\b/;

/**
 * Reads what strace prints (`-f -y`) and keeps the paths below one folder. Processes are interleaved: a call may be
 * printed in two parts. Paths of calls without a folder are relative to the process's current folder, which is known from
 * its other calls; where it is not, the folder itself and the last known one are assumed.
 */
export class FileTrace {
  readonly #root: string;
  readonly #files = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #folders = new Set<string>();
  readonly #missing = new Set<string>();
  readonly #begun = new Map<string, string>();
  readonly #current = new Map<string, string>();
  #lastCurrent: string;
  #rest = '';
  #lines = 0;

  /** `root`: the real path of the folder. */
  constructor(root: string) {
    this.#root = root;
    this.#lastCurrent = root;
  }

  /** `chunk` is ASCII: strace escapes all other bytes. */
  take(chunk: Buffer): void {
    const parts = (this.#rest + chunk.toString('latin1')).split('\n');
    this.#rest = (parts.pop() ?? '').slice(-LONGEST_LINE);
    for (const line of parts) this.#line(line);
  }

  /** Null: nothing was traced. */
  result(): FolderReads | null {
    if (this.#lines === 0) return null;
    const list = (names: ReadonlySet<string>) => [...names].sort();
    const [files, folders] = [list(this.#files), list(this.#folders)];
    // A file that a gate wrote itself existed later.
    const missing = list(this.#missing);
    return { files, folders, missing, seen: list(this.#seen).filter((name) => !this.#files.has(name)) };
  }

  #line(line: string): void {
    this.#lines += 1;
    const [, pid = '', text = ''] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    if (text.endsWith('<unfinished ...>')) {
      this.#begun.set(pid, text.slice(0, -'<unfinished ...>'.length));
      return;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(text);
    const begun = this.#begun.get(pid);
    this.#begun.delete(pid);
    if (text.startsWith('+++')) this.#current.delete(pid);
    else this.#call(pid, resumed ? `${begun ?? ''}${resumed[1]}` : text);
  }

  #call(pid: string, text: string): void {
    const call = /^(\w+)\(/.exec(text)?.[1];
    if (call === undefined || CHANGES_ONLY.test(call)) return;
    const cwd = /\bAT_FDCWD<((?:[^>\\]|\\.)*)>/.exec(text)?.[1];
    if (cwd !== undefined) this.#enter(pid, unescaped(cwd));
    const isAbsent = ABSENT.test(text);
    if (!isAbsent && / = -1 E/.test(text)) return;
    const folder = /^\w+\((?:AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>/.exec(text)?.[1];
    if (call === 'getdents64' || call === 'getdents') this.#keep(this.#folders, folder && unescaped(folder));
    else if (call === 'fchdir') this.#enter(pid, unescaped(folder ?? ''));
    else this.#named(pid, call, text, folder, isAbsent);
  }

  #named(pid: string, call: string, text: string, folder: string | undefined, isAbsent: boolean): void {
    const opened = / = \d+<((?:[^>\\]|\\.)*)>$/.exec(text)?.[1];
    const named = [...text.matchAll(/"((?:[^"\\]|\\.)*)"(\.\.\.)?/g)].slice(0, call.startsWith('rename') ? 2 : 1);
    for (const [, name = ''] of named) {
      const bases = folder === undefined ? this.#bases(pid) : [unescaped(folder)];
      for (const base of bases) {
        const path = posix.resolve(base, unescaped(name));
        if (call === 'chdir' && !isAbsent) this.#enter(pid, path);
        if (isAbsent) this.#keep(this.#missing, path);
        else if (OPENS.has(call) && !/\bO_DIRECTORY\b|\bO_PATH\b/.test(text) && !/O_CREAT.*O_(EXCL|TRUNC)/.test(text))
          this.#keep(this.#files, path);
        else this.#keep(this.#seen, path);
      }
    }
    // Through links: the real file.
    if (opened !== undefined && OPENS.has(call) && !/\bO_DIRECTORY\b|\bO_PATH\b/.test(text))
      this.#keep(this.#files, unescaped(opened));
  }

  #enter(pid: string, folder: string): void {
    if (folder === '') return;
    this.#current.set(pid, folder);
    this.#lastCurrent = folder;
  }

  #bases(pid: string): string[] {
    const known = this.#current.get(pid);
    return known === undefined ? [...new Set([this.#root, this.#lastCurrent])] : [known];
  }

  #keep(names: Set<string>, path: string | undefined): void {
    if (path === undefined || names.size >= MOST_NAMES) return;
    const own = viaProcess(path) ? posix.join(this.#lastCurrent, viaProcess(path) ?? '') : path;
    if (own === this.#root && names === this.#folders) names.add('');
    if (!own.startsWith(`${this.#root}/`)) return;
    const name = own.slice(this.#root.length + 1);
    if (name !== '.git' && !name.startsWith('.git/')) names.add(name);
  }
}

/** What follows `/proc/self/cwd` in a path. */
const viaProcess = (path: string) => /^\/proc\/(?:self|\d+)\/(?:task\/\d+\/)?cwd(\/.*)$/.exec(path)?.[1];

const ESCAPES: Record<string, number> = { n: 10, t: 9, r: 13, v: 11, f: 12, a: 7, b: 8, e: 27 };

/** As strace writes a string: C escapes, with bytes in octal. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  const bytes: number[] = [];
  for (const [, octal, hex, letter, plain] of text.matchAll(/\\([0-7]{1,3})|\\x([0-9a-f]{2})|\\(.)|([^\\])/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (hex !== undefined) bytes.push(Number.parseInt(hex, 16));
    else if (letter !== undefined) bytes.push(ESCAPES[letter] ?? letter.charCodeAt(0));
    else if (plain !== undefined) bytes.push(plain.charCodeAt(0));
  }
  return Buffer.from(bytes).toString('utf8');
}
