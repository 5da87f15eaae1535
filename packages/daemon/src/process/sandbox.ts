import { execFile } from 'node:child_process';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { secretsInCheckout } from './checkout.ts';
import { homeSecrets, homesOf, homeTools, homeTree, linkedPrograms } from './home.ts';
import { isInside, type Mount, mountArguments } from './mounts.ts';

export interface SandboxRequest {
  /** The one place that may be written to, and where the command starts. */
  worktree: string;
  /** Then not even the worktree may be written to. */
  readOnlyWorktree: boolean;
  /** The repository's root: readable, its `.git` included. */
  root: string;
  /** Tidemill's data folder: hidden but for the worktree, so that no child reads or forges evidence. */
  dataDir: string;
  /** Home folders: hidden but for tools. */
  homes: string[];
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
/**
 * Who can talk to one of these can have anything started outside, as root. A read-only file system does not keep
 * anybody from talking to a socket.
 */
export const CONTAINER_SOCKETS = [
  ...['/run/docker.sock', '/run/podman/podman.sock', '/run/containerd/containerd.sock', '/run/crio/crio.sock'],
];
/** Beside the temporary folder: where the helpers of a session and of the system listen (keys, services, machines). */
const HIDDEN = [
  ...[TEMP, '/run/user', '/run/dbus', '/run/systemd/private', '/run/snapd.socket', '/run/libvirt', '/run/incus'],
  ...CONTAINER_SOCKETS,
];
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
    return Promise.resolve(unavailable(`bubblewrap needs Linux, and this is ${process.platform}`));
  }
  const args = [...FLAGS, '--unshare-net', ...SYSTEM, '--tmpfs', TEMP, '--', '/bin/sh', '-c', 'exit 0'];
  return new Promise((resolve) => {
    execFile('bwrap', args, { timeout: 10_000 }, (error, _stdout, stderr) => {
      if (!error) return resolve({ available: true, why: 'bubblewrap works' });
      const why =
        error.code === 'ENOENT'
          ? 'bwrap is not installed (the package is called bubblewrap)'
          : `bwrap does not work here (${stderr.trim().split('\n')[0] || error.message})`;
      resolve(unavailable(why));
    });
  });
}

const unavailable = (why: string): SandboxStatus => ({
  available: false,
  why: `${why}: agents and gates run unsandboxed`,
});

/** The words to put before a command. Paths that do not exist are left out. */
export async function sandboxPrefix(request: SandboxRequest): Promise<string[]> {
  const worktree = await realpath(request.worktree);
  const as = (kind: Mount['kind'], places: string[]): Mount[] => places.map((at) => ({ at, kind }));
  const mounts = await mountArguments([
    ...as('hidden', [...HIDDEN, request.dataDir, ...request.homes, ...request.hidden]),
    ...as('hidden', [
      ...request.homes.flatMap(homeSecrets),
      ...(await secretsInCheckout(request.root, request.dataDir)),
    ]),
    ...as('readable', [request.root, ...(await gitFolders(request.root)), ...request.homes.flatMap(homeTools)]),
    ...as('readable', request.readable),
    ...as('writable', request.writable),
    ...as(request.readOnlyWorktree ? 'readable' : 'writable', [worktree]),
  ]);
  const net = request.network ? [] : ['--unshare-net'];
  return ['bwrap', ...FLAGS, ...net, '--json-status-fd', '3', ...SYSTEM, ...mounts, '--chdir', worktree, '--'];
}

/** What must be readable for a file in a hidden place to work as a program: the folder tree it was installed in. */
export async function programFolder(file: string, dataDir: string, homes?: string[]): Promise<string[]> {
  const real = await realpath(file).catch(() => null);
  const data = await realpath(dataDir).catch(() => dataDir);
  if (real === null) return [];
  if (isInside(real, data)) return [path.dirname(real) === data ? real : path.dirname(real)];
  // The deepest first: a home may lie in the temporary folder.
  const around = [...(homes ?? (await homesOf(undefined)))].sort((a, b) => b.length - a.length);
  const home = around.find((folder) => isInside(real, folder));
  if (home !== undefined) return [await homeTree(real, home)].filter((tree) => tree !== null);
  if (!isInside(real, TEMP)) return [];
  return [path.join(TEMP, path.relative(TEMP, real).split(path.sep)[0] ?? '')];
}

/**
 * Programs a command may go on to call: whatever is on its PATH, and the Node we run on. Where such a folder lies in a
 * hidden place, the tree it was installed in stays readable, or a gate would not find the tools it finds outside.
 */
export async function toolFolders(searchPath: string, dataDir: string, homes: string[]): Promise<string[]> {
  const data = await realpath(dataDir).catch(() => dataDir);
  const listed = new Set([...searchPath.split(path.delimiter), path.dirname(process.execPath)]);
  const shown = [...listed].filter(path.isAbsolute).map(async (folder) => {
    const real = await realpath(folder).catch(() => '');
    if (real === '' || isInside(real, data)) return [];
    // Named by a link that would be gone with the place it lies in.
    if (![TEMP, ...homes].some((place) => isInside(real, place))) return real === folder ? [] : [folder];
    const linked = homes.some((home) => isInside(real, home)) ? await linkedPrograms(real) : [];
    const [own, ...others] = await Promise.all([real, ...linked].map((file) => programFolder(file, dataDir, homes)));
    return [...(own?.length ? [folder, ...own] : []), ...others.flat()];
  });
  return [...new Set((await Promise.all(shown)).flat())];
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
