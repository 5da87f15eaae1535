import { execFile } from 'node:child_process';
import { readdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FolderReads } from '../ports.ts';
import { AccessTimes, keepsAccessTimes } from './access-times.ts';
import type { ChildHost } from './child.ts';
import { clonePath } from './clone-path.ts';
import { sandboxStatus } from './sandbox.ts';
import { FileTrace, TRACED_CALLS } from './trace.ts';

/** How reads of commands are known on this machine. */
export interface ObservingStatus {
  /** strace sees every look at a path, and costs time: for the target, in the background. */
  traces: boolean;
  /** Cheap; sees reads of files only: for every proof. */
  times: boolean;
  why: string;
}

/** What is missed without strace, for a person. */
export const UNOBSERVED = [
  'Changed files that decide what gates check are then also recognised by names and known patterns. Unseen without strace: a new file',
  'whose mere presence a gate tests. Install strace and bubblewrap, and keep the data folder where access times are kept.',
].join(' ');

let known: Promise<ObservingStatus> | undefined;

/** Tested once with a real command. `folder`: where checkouts are. */
export function observingStatus(folder: string = tmpdir()): Promise<ObservingStatus> {
  known ??= probe(folder);
  return known;
}

async function probe(folder: string): Promise<ObservingStatus> {
  const [fault, times] = await Promise.all([traceFault(), keepsAccessTimes(folder).catch(() => false)]);
  const byTimes = times ? 'by access times' : 'not at all: this file system keeps no access times';
  if (fault === null) return { traces: true, times, why: `on the target by strace, in proofs ${byTimes}` };
  return { traces: false, times, why: times ? `${byTimes} only (${fault})` : `${byTimes}, and ${fault}` };
}

const STRACE = ['-f', '-qqq', '--seccomp-bpf', '-y', '-s', '4096', '-e', 'signal=none', '-e', `trace=${TRACED_CALLS}`];

/** The stream on which strace writes. The command itself does not get it. */
export const TRACE_STREAM = 4;

/** The prefix of a traced command. */
export const tracePrefix = [
  ...['strace', ...STRACE, '-o', `|exec cat >&${TRACE_STREAM}`, '--'],
  ...['sh', '-c', `exec "$@" ${TRACE_STREAM}>&-`, 'sh'],
];

/** strace waits for every process that it follows. Only the end of a sandbox ends those that a command leaves behind. */
async function traceFault(): Promise<string | null> {
  return (await sandboxStatus()).available ? straceFault() : 'strace is used in a sandbox only';
}

function straceFault(): Promise<string | null> {
  if (process.platform !== 'linux') return Promise.resolve('strace needs Linux');
  return new Promise((resolve) => {
    execFile('strace', [...STRACE, '-o', '/dev/null', '--', 'sh', '-c', 'exit 7'], { timeout: 10_000 }, (error) => {
      if (error?.code === 7) resolve(null);
      else resolve(error?.code === 'ENOENT' ? 'strace is not installed' : 'strace does not work here');
    });
  });
}

/** An observation of one command in a folder. */
export interface CommandWatcher {
  /** For a child's `onTrace`; absent when it is not traced. */
  onTrace?: (chunk: Buffer) => void;
  /** After the command has ended. Null: nothing was observed. */
  end(): Promise<FolderReads | null>;
}

/**
 * `all`: everything below the folder, with strace if possible. Otherwise reads of the named files. It never fails: a
 * command that is not observed runs all the same.
 */
export async function observe(
  folder: string,
  asked: 'all' | readonly string[],
  host: Pick<ChildHost, 'root' | 'sandbox'>,
): Promise<CommandWatcher> {
  const { traces, times } = await observingStatus();
  const root = await realpath(folder).catch(() => folder);
  if (asked === 'all' && traces && host.sandbox === 'auto') {
    const trace = new FileTrace((await clonePath(host, folder)) ?? root);
    return { onTrace: (chunk) => trace.take(chunk), end: async () => trace.result() };
  }
  if (!times) return { end: async () => null };
  const paths = asked === 'all' ? await filesBelow(root) : asked;
  const watching = await AccessTimes.begin(root, paths).catch(() => null);
  return {
    end: async () => {
      const result = await watching?.end().catch(() => null);
      return result ? { files: result.read, folders: [], missing: [], seen: [] } : null;
    },
  };
}

const MOST_FILES = 20_000;

/** Without installed packages: nothing of them is tracked. */
async function filesBelow(root: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let folder = folders.shift(); folder !== undefined && found.length < MOST_FILES; folder = folders.shift()) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory()) found.push(path);
      else if (entry.name !== '.git' && entry.name !== 'node_modules') folders.push(path);
    }
  }
  return found;
}
