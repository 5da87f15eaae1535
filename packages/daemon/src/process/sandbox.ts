import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { CheckoutSecrets } from './checkout.ts';
import { CopiedFolders } from './copies.ts';
import { gatherEtc } from './etc-view.ts';
import { GitView } from './git-view.ts';
import { homeSecrets, homeTools } from './home.ts';
import { type FoundMount, findMounts, isInside, type Mount, mountArguments } from './mounts.ts';
import { kernelMounts, oldNames, systemMounts } from './system-view.ts';
import { toolFolders } from './tools.ts';

export interface SandboxRequest {
  /** The one place that may be written to, and where the command starts. */
  worktree: string;
  /** Then not even the worktree may be written to. */
  readOnlyWorktree: boolean;
  /** The repository's root: readable, and of its `.git` what git needs to read history. */
  root: string;
  /** Tidemill's data folder: hidden but for the worktree, so that no child reads or forges evidence. */
  dataDir: string;
  /** Home folders: hidden but for tools. */
  homes: string[];
  /** Programs are looked for here, and may be read wherever they lie. */
  searchPath: string;
  network: boolean;
  /** Further places that may be read, and that may be written to. */
  readable: string[];
  writable: string[];
  /** Further folders that look empty, and whatever is written there is gone with the command. */
  hidden: string[];
}

export interface SandboxStatus {
  available: boolean;
  why: string;
}

/** What does not hold without a sandbox, in words for a person. */
export const UNHELD = [
  'Agents and gates can read and write what you can: your keys, other projects, this data folder.',
  'They can reach every service on this machine. What they start is ended with them,',
  'but a process that takes care not to be found goes on. Gates still prove a clean checkout.',
].join(' ');

/**
 * Who can talk to one of these can have anything started outside, as root. A read-only file system does not keep
 * anybody from talking to a socket.
 */
export const CONTAINER_SOCKETS = [
  '/run/docker.sock',
  '/run/podman/podman.sock',
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
];

// Without --cap-drop ALL a child of root could remount a read-only bind. --die-with-parent and the pid namespace end
// every descendant with us, even after a SIGKILL of the daemon. A session of its own, so that it can type into no
// terminal, the child has already: child.ts starts it so.
const FLAGS = ['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'];
/**
 * In a user namespace of its own root could mount file systems whose files belong to root, such as the one that freezes
 * and limits processes. Anybody else gains nothing by one, and browsers build their own sandbox from it.
 */
const NO_NAMESPACES = ['--unshare-user', '--disable-userns'];
const isRoot = process.getuid?.() === 0;

type Probe = SandboxStatus & { flags: string[] };
type Surroundings = Pick<SandboxRequest, 'homes' | 'searchPath' | 'dataDir' | 'network'>;

/** Some two hundred places are looked at; a new one is seen a little later. */
const KEPT_MS = 20_000;
const MOST_KEPT = 50;

/** Makes sandboxes on this machine, and remembers what it found out about it. */
class Sandboxes {
  readonly #copies = new CopiedFolders();
  readonly #git = new GitView(this.#copies);
  readonly #secrets = new CheckoutSecrets();
  readonly #standing = new Map<string, { until: number; mounts: Promise<FoundMount[]> }>();
  #probed: Promise<Probe> | undefined;
  #kernel: Promise<string[]> | undefined;

  status(): Promise<Probe> {
    this.#probed ??= this.#kernelView().then(probe);
    return this.#probed;
  }

  async prefix(request: SandboxRequest): Promise<string[]> {
    const worktree = await realpath(request.worktree);
    const [{ flags }, kernel, links, standing, own] = await Promise.all([
      this.status(),
      this.#kernelView(),
      oldNames(),
      this.#standingView(request),
      this.ownMounts(request, worktree).then(findMounts),
    ]);
    // Nothing can be hidden any more where nothing is: bubblewrap would fail to make the place.
    const there = [...standing, ...own].filter(({ kind, at }) => kind !== 'hidden' || existsSync(at));
    const mounts = mountArguments(await gatherEtc(there, request.dataDir, this.#copies));
    const net = request.network ? [] : ['--unshare-net'];
    const view = [...kernel, ...mounts, ...links, '--remount-ro', '/'];
    return ['bwrap', ...flags, ...net, '--json-status-fd', '3', ...view, '--chdir', worktree, '--'];
  }

  async ownMounts(request: SandboxRequest, worktree: string): Promise<Mount[]> {
    const { root, dataDir } = request;
    return [
      ...as('hidden', [dataDir, ...request.hidden]),
      ...as('hidden', await this.#secrets.in(root, dataDir)),
      ...as('readable', [root, ...(await heldBy(root, request.readable))]),
      ...(await this.#git.mounts(root, worktree, dataDir)),
      ...as('writable', await heldBy(root, request.writable)),
      ...as(request.readOnlyWorktree ? 'readable' : 'writable', [worktree]),
    ];
  }

  async standingMounts({ homes, searchPath, dataDir, network }: Surroundings): Promise<Mount[]> {
    return [
      ...systemMounts(network),
      ...as('hidden', [...homes, ...homes.flatMap(homeSecrets)]),
      ...as('readable', homes.flatMap(homeTools)),
      ...as('readable', await toolFolders(searchPath, dataDir, homes)),
      ...(await this.#git.personal(homes, dataDir)),
    ];
  }

  #standingView({ homes, searchPath, dataDir, network }: Surroundings): Promise<FoundMount[]> {
    const key = JSON.stringify([homes, searchPath, dataDir, network]);
    const last = this.#standing.get(key);
    if (last && last.until > performance.now()) return last.mounts;
    const mounts = this.standingMounts({ homes, searchPath, dataDir, network }).then(findMounts);
    if (this.#standing.size >= MOST_KEPT) this.#standing.clear();
    this.#standing.set(key, { until: performance.now() + KEPT_MS, mounts });
    mounts.catch(() => this.#standing.delete(key));
    return mounts;
  }

  #kernelView(): Promise<string[]> {
    const isThere = (at: string) =>
      stat(at).then(
        () => true,
        () => false,
      );
    this.#kernel ??= kernelMounts(isRoot, isThere);
    return this.#kernel;
  }
}

/** One per process: all that it remembers is about this machine, and every child of the process is started on it. */
const machine = new Sandboxes();

/** Whether children can be sandboxed on this machine: found out once, by really doing it. */
export const sandboxStatus = (): Promise<SandboxStatus> => machine.status();

/** The words to put before a command. Paths that do not exist are left out. */
export const sandboxPrefix = (request: SandboxRequest): Promise<string[]> => machine.prefix(request);

/** What this command is shown beside what all are. */
export const ownMounts = (request: SandboxRequest, worktree: string): Promise<Mount[]> =>
  machine.ownMounts(request, worktree);

/** What all commands in these surroundings are shown: the system, and the tools in home folders and on PATH. */
export const standingMounts = (surroundings: Surroundings): Promise<Mount[]> => machine.standingMounts(surroundings);

async function probe(kernel: string[]): Promise<Probe> {
  if (process.platform !== 'linux') return unavailable(`bubblewrap needs Linux, and this is ${process.platform}`);
  const start = async (flags: string[]) => {
    const mounts = mountArguments(await findMounts(systemMounts(false)));
    return tryOut([
      ...flags,
      '--unshare-net',
      ...kernel,
      ...mounts,
      '--remount-ro',
      '/',
      '--',
      '/bin/sh',
      '-c',
      'exit 0',
    ]);
  };
  const strict = isRoot ? [...FLAGS, ...NO_NAMESPACES] : FLAGS;
  const fault = await start(strict);
  if (fault === null) return { available: true, why: 'bubblewrap works', flags: strict };
  // Some containers let root make every namespace but this one.
  if (isRoot && (await start(FLAGS)) === null) return { available: true, why: 'bubblewrap works', flags: FLAGS };
  return unavailable(fault);
}

function tryOut(args: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('bwrap', args, { timeout: 10_000 }, (error, _stdout, stderr) => {
      if (!error) return resolve(null);
      const isMissing = error.code === 'ENOENT';
      resolve(
        isMissing
          ? 'bwrap is not installed (the package is called bubblewrap)'
          : `bwrap does not work here (${stderr.trim().split('\n')[0] || error.message})`,
      );
    });
  });
}

const unavailable = (why: string) => ({
  available: false,
  why: `${why}: agents and gates run unsandboxed`,
  flags: [],
});

const as = (kind: Mount['kind'], places: string[]): Mount[] => places.map((at) => ({ at, kind }));

/** A place in the repository may be a link that an agent's work brought there: it opens nothing outside. */
async function heldBy(root: string, places: string[]): Promise<string[]> {
  const leased = await realpath(root).catch(() => root);
  const checked = places.map(async (place) => {
    if (!isInside(place, root) && !isInside(place, leased)) return [place];
    const real = await realpath(place).catch(() => null);
    return real !== null && isInside(real, leased) ? [place] : [];
  });
  return (await Promise.all(checked)).flat();
}
