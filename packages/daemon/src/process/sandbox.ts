import { execFile } from 'node:child_process';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

export interface SandboxRequest {
  /** The one place that may be written to, and where the command starts. */
  worktree: string;
  /** Then not even the worktree may be written to. */
  readOnlyWorktree: boolean;
  /** The repository's root: readable, its `.git` included. */
  root: string;
  /** Tidemill's data folder: hidden but for the worktree, so that no child reads or forges evidence. */
  dataDir: string;
  network: boolean;
  /** Further folders that may be read although they lie in a hidden place, and that may be written to. */
  readable: string[];
  writable: string[];
  /** Further folders that look empty, and whatever is written there is gone with the command. */
  hidden: string[];
}

export interface SandboxStatus {
  available: boolean;
  why: string;
}

const TEMP = '/tmp';
// Without --cap-drop ALL a child of root could remount a read-only bind. --die-with-parent and the pid namespace end
// every descendant with us, even after a SIGKILL of the daemon.
const FLAGS = ['--die-with-parent', '--unshare-pid', '--cap-drop', 'ALL'];
const SYSTEM = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];

let probed: Promise<SandboxStatus> | undefined;

/** Whether children can be sandboxed on this machine: found out once, by really doing it. */
export function sandboxStatus(): Promise<SandboxStatus> {
  probed ??= probe();
  return probed;
}

function probe(): Promise<SandboxStatus> {
  if (process.platform !== 'linux') {
    return Promise.resolve({ available: false, why: `bubblewrap needs Linux; this is ${process.platform}` });
  }
  const args = [...FLAGS, '--unshare-net', ...SYSTEM, '--tmpfs', TEMP, '--', '/bin/sh', '-c', 'exit 0'];
  return new Promise((resolve) => {
    execFile('bwrap', args, { timeout: 10_000 }, (error, _stdout, stderr) => {
      if (!error) return resolve({ available: true, why: 'bubblewrap works' });
      const why =
        error.code === 'ENOENT'
          ? 'bwrap is not installed (the package is called bubblewrap): agents and gates run unsandboxed'
          : `bwrap does not work here: ${stderr.trim().split('\n')[0] || error.message}`;
      resolve({ available: false, why });
    });
  });
}

type Mount = { at: string; kind: 'hidden' | 'readable' | 'writable' };
const STRENGTH = { hidden: 0, readable: 1, writable: 2 };

/** The words to put before a command. Paths that do not exist are left out. */
export async function sandboxPrefix(request: SandboxRequest): Promise<string[]> {
  const worktree = await realpath(request.worktree);
  const wanted: Mount[] = [
    { at: TEMP, kind: 'hidden' },
    { at: request.dataDir, kind: 'hidden' },
    ...request.hidden.map((at): Mount => ({ at, kind: 'hidden' })),
    { at: request.root, kind: 'readable' },
    ...(await gitFolders(request.root)).map((at): Mount => ({ at, kind: 'readable' })),
    ...request.readable.map((at): Mount => ({ at, kind: 'readable' })),
    ...request.writable.map((at): Mount => ({ at, kind: 'writable' })),
    { at: worktree, kind: request.readOnlyWorktree ? 'readable' : 'writable' },
  ];
  const mounts = inOrder(await resolved(wanted)).flatMap(({ at, kind }) =>
    kind === 'hidden' ? ['--tmpfs', at] : [kind === 'writable' ? '--bind' : '--ro-bind', at, at],
  );
  const net = request.network ? [] : ['--unshare-net'];
  return ['bwrap', ...FLAGS, ...net, '--json-status-fd', '3', ...SYSTEM, ...mounts, '--chdir', worktree, '--'];
}

/** What must be readable for a file in a hidden place to work as a program: the folder tree it was installed in. */
export async function programFolder(file: string, dataDir: string): Promise<string[]> {
  const real = await realpath(file).catch(() => null);
  const data = await realpath(dataDir).catch(() => dataDir);
  if (real === null) return [];
  if (isInside(real, data)) return [path.dirname(real) === data ? real : path.dirname(real)];
  if (!isInside(real, TEMP)) return [];
  return [installedIn(real)];
}

/**
 * Programs a command may go on to call: whatever is on its PATH, and the Node we run on. Where such a folder lies in the
 * hidden place, the tree it was installed in stays readable, or a gate would not find the tools it finds outside.
 */
export async function toolFolders(searchPath: string, dataDir: string): Promise<string[]> {
  const data = await realpath(dataDir).catch(() => dataDir);
  const folders = [...searchPath.split(path.delimiter), path.dirname(process.execPath)];
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => '')));
  return [...new Set(real)].filter((at) => isInside(at, TEMP) && !isInside(at, data)).map(installedIn);
}

const installedIn = (file: string) => path.join(TEMP, path.relative(TEMP, file).split(path.sep)[0] ?? '');

/** Parents before their children, since a later mount covers an earlier one; at one place the most generous wins. */
function inOrder(mounts: Mount[]): Mount[] {
  const byPlace = new Map<string, Mount>();
  for (const mount of mounts) {
    const known = byPlace.get(mount.at);
    if (!known || STRENGTH[known.kind] < STRENGTH[mount.kind]) byPlace.set(mount.at, mount);
  }
  const depth = ({ at }: Mount) => at.split(path.sep).length;
  return [...byPlace.values()].sort((a, b) => depth(a) - depth(b));
}

async function resolved(mounts: Mount[]): Promise<Mount[]> {
  const real = await Promise.all(
    mounts.map(async (mount) => ({ ...mount, at: await realpath(mount.at).catch(() => '') })),
  );
  return real.filter((mount) => mount.at !== '' && mount.at !== '/');
}

/** Where the repository keeps its objects, when that is not `.git` below its root: a linked worktree or a submodule. */
async function gitFolders(root: string): Promise<string[]> {
  const entry = path.join(root, '.git');
  if (!(await stat(entry).catch(() => null))?.isFile()) return [];
  const folder = /^gitdir: (.+)$/m.exec(await readFile(entry, 'utf8'))?.[1];
  if (!folder) return [];
  const gitDir = path.resolve(root, folder);
  const common = await readFile(path.join(gitDir, 'commondir'), 'utf8').catch(() => '.');
  return [gitDir, path.resolve(gitDir, common.trim())];
}

function isInside(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}
