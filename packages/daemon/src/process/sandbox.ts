import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { CopiedFolders } from './copies.ts';
import { gatherEtc } from './etc-view.ts';
import { GitView } from './git-view.ts';
import { homeSecrets, homeTools } from './home.ts';
import { type FoundMount, findMounts, isInside, type Mount, mountArguments } from './mounts.ts';
import { namedPrograms, ownNode, unshownModules } from './root-programs.ts';
import { RootView } from './root-view.ts';
import { kernelMounts, oldNames, systemMounts } from './system-view.ts';
import { toolSettings } from './tool-settings.ts';
import { toolFolders } from './tools.ts';

export interface SandboxRequest {
  /** The only writable path, and the current folder of the command. */
  worktree: string;
  /** Where the worktree is shown instead, as a clone: the person's checkout and its refs are not shown beside it. */
  shownAt?: string;
  /** Makes the worktree read-only too. */
  readOnlyWorktree: boolean;
  /** The person's checkout: only the parts of `.git` that git needs to read history, and what git tracks. */
  root: string;
  /** The command, and the values of its own variables. When one of them names the root, the tracked files are shown. */
  command: string[];
  values: string[];
  /** Tidemill's data folder: hidden except the worktree, so that no child reads or forges evidence. */
  dataDir: string;
  /** Home folders: hidden except tools. */
  homes: string[];
  /** PATH. The programs on it are readable, wherever they are. */
  searchPath: string;
  network: boolean;
  /** Additional readable and writable paths. */
  readable: string[];
  writable: string[];
  /** Additional folders that look empty. Files written there are removed with the command. */
  hidden: string[];
}

export interface SandboxStatus {
  available: boolean;
  why: string;
}

/** What is not protected without a sandbox, for a person. */
export const UNHELD = [
  'Agents and gates can read and write what you can: your keys, other projects, this data folder.',
  'They can reach every service on this machine. Processes that they start are ended with them,',
  'but a process that hides on purpose keeps running. Gates still prove a clean checkout.',
].join(' ');

/**
 * A process that can use one of these sockets can start anything outside the sandbox, as root. A read-only mount does
 * not prevent the use of a socket.
 */
export const CONTAINER_SOCKETS = [
  '/run/docker.sock',
  '/run/podman/podman.sock',
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
];

// Without --cap-drop ALL a child of root could remount a read-only bind. --die-with-parent and the pid namespace end
// every descendant with the daemon, even after SIGKILL. child.ts already starts the child in its own session, so that
// it cannot write to a terminal.
const FLAGS = ['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'];
/**
 * In its own user namespace, root could mount file systems whose files belong to root, such as cgroups. Other users
 * gain nothing from one, and browsers need it for their own sandbox.
 */
const NO_NAMESPACES = ['--unshare-user', '--disable-userns'];
const isRoot = process.getuid?.() === 0;

type Probe = SandboxStatus & { flags: string[] };
type SandboxContext = Pick<SandboxRequest, 'homes' | 'searchPath' | 'dataDir' | 'network'>;

/** How long the view is reused: it checks about two hundred paths. */
const KEPT_MS = 20_000;
const MOST_KEPT = 50;

/** Creates sandboxes on this machine and caches facts about it. */
class Sandboxes {
  readonly #copies = new CopiedFolders();
  readonly #git = new GitView(this.#copies);
  readonly #root = new RootView(this.#copies);
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
    // A missing path needs no mount to hide it: bubblewrap would fail to create the mount point.
    const there = [...standing, ...own].filter(({ kind, at }) => kind !== 'hidden' || existsSync(at));
    const root = await realpath(request.root).catch(() => request.root);
    const shown = await this.#root.cover(
      there.filter((mount) => own.includes(mount) || !isOfCheckout(mount, root, request.homes)),
      { root, written: request.root, dataDir: request.dataDir, words: [...request.command, ...request.values] },
    );
    const mounts = mountArguments(await gatherEtc(shown, request.dataDir, this.#copies));
    const net = request.network ? [] : ['--unshare-net'];
    const { shownAt } = request;
    const clone = shownAt === undefined ? [] : [request.readOnlyWorktree ? '--ro-bind' : '--bind', worktree, shownAt];
    const view = [...kernel, ...mounts, ...links, ...clone, '--remount-ro', '/'];
    return ['bwrap', ...flags, ...net, '--json-status-fd', '3', ...view, '--chdir', shownAt ?? worktree, '--'];
  }

  async ownMounts(request: SandboxRequest, worktree: string): Promise<Mount[]> {
    const { root, dataDir } = request;
    const real = await realpath(root).catch(() => root);
    const named = [...request.readable, ...(await namedPrograms(request.command, real)), ...ownNode(real)];
    const readable = (await heldBy(root, named)).filter((place) => place !== root && place !== real);
    const { shownAt } = request;
    return [
      ...as('hidden', [dataDir, ...request.hidden, ...(await unshownModules(readable, real))]),
      ...as('readable', readable),
      ...(shownAt === undefined
        ? await this.#git.mounts(root, worktree, dataDir)
        : as('readable', await this.#git.objects(root))),
      ...as('writable', await heldBy(root, request.writable)),
      ...(shownAt === undefined ? as(request.readOnlyWorktree ? 'readable' : 'writable', [worktree]) : []),
    ];
  }

  async standingMounts({ homes, searchPath, dataDir, network }: SandboxContext): Promise<Mount[]> {
    return [
      ...systemMounts(network),
      ...as('hidden', [...homes, ...homes.flatMap(homeSecrets)]),
      ...as('readable', homes.flatMap(homeTools)),
      ...as('readable', await toolFolders(searchPath, dataDir, homes)),
      ...as('hidden', (await Promise.all(homes.map((home) => toolSettings(home, searchPath)))).flat()),
      ...(await this.#git.personal(homes, dataDir)),
    ];
  }

  #standingView({ homes, searchPath, dataDir, network }: SandboxContext): Promise<FoundMount[]> {
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

/** One per process, because all cached facts are about this machine. */
const machine = new Sandboxes();

/** Whether children can be sandboxed on this machine. Tested once with a real sandbox. */
export const sandboxStatus = (): Promise<SandboxStatus> => machine.status();

/** The command prefix. Paths that do not exist are left out. */
export const sandboxPrefix = (request: SandboxRequest): Promise<string[]> => machine.prefix(request);

/** The mounts of this command, in addition to the common ones. */
export const ownMounts = (request: SandboxRequest, worktree: string): Promise<Mount[]> =>
  machine.ownMounts(request, worktree);

/** The common mounts: the system, and the tools in home folders and on PATH. */
export const standingMounts = (surroundings: SandboxContext): Promise<Mount[]> => machine.standingMounts(surroundings);

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
  // Some containers let root create every namespace except this one.
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

/** PATH may name folders of the checkout. Its programs are not the ones of the tree that is worked on. */
const isOfCheckout = ({ at, kind }: Mount, root: string, homes: string[]) =>
  kind !== 'hidden' && isInside(at, root) && !homes.some((home) => home === root || isInside(home, root));

/** A path in the repository may be a link that an agent committed. It must not open anything outside. */
async function heldBy(root: string, places: string[]): Promise<string[]> {
  const leased = await realpath(root).catch(() => root);
  const checked = places.map(async (place) => {
    if (!isInside(place, root) && !isInside(place, leased)) return [place];
    const real = await realpath(place).catch(() => null);
    return real !== null && isInside(real, leased) ? [place] : [];
  });
  return (await Promise.all(checked)).flat();
}
