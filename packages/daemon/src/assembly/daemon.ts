import { randomBytes } from 'node:crypto';
import { type Api, AppError, type DaemonInfo, MAX_WORKERS, type Project } from '@tidemill/contract';
import { TokenBook } from '../access/token-book.ts';
import { createAgentSearch } from '../agents/discover.ts';
import { absenceOf } from '../agents/presence.ts';
import { buildVersion } from '../build-version.ts';
import { systemClock } from '../clock.ts';
import { type DataFolder, openDataFolder } from '../config/data-folder.ts';
import { settingsMark } from '../config/watch.ts';
import { ReactorHost } from '../engine/reactors/host.ts';
import { rootOf } from '../git/repository.ts';
import type { Services } from '../handlers/context.ts';
import { createLocalApi } from '../handlers/index.ts';
import { saveProject } from '../handlers/project/project.ts';
import { type BindOptions, checkBind } from '../http/bind.ts';
import { type HttpServer, startHttp } from '../http/server.ts';
import { Metrics } from '../metrics/metrics.ts';
import { killLeaked } from '../process/leaks.ts';
import { atMost } from './at-most.ts';
import { pageLink, readDaemonFile, removeDaemonFile, writeDaemonFile } from './daemon-file.ts';
import { LiveSettings } from './live-settings.ts';
import { type FolderLock, takeLock } from './lock.ts';
import { type Log, openLog } from './log.ts';
import { borrowWorkspace, promptsOf, sandboxView, sha256 } from './offline.ts';
import { ProjectChannels } from './project-channels.ts';
import { createProjectEngine, type ProjectEngine } from './project-engine.ts';
import { type OpenedStore, openFolderStore } from './store-address.ts';

/** How long steps may take to reach a checkpoint once a stop was asked for; then agents are ended and work is kept. */
const GRACE_MS = 4000;
/** Requests that look into a repository at once: each starts programs, and the agents need the machine, too. */
const MOST_LOOKS = 8;

export interface DaemonOptions {
  env: NodeJS.ProcessEnv;
  port: number;
  /** Left out: loopback only. */
  bind?: BindOptions;
}

/**
 *   locked ─▶ store open ─▶ leftovers of a dead daemon ended ─▶ serving ─▶ projects attached, engines at work
 *   stop: engines to their checkpoints ─▶ no longer serving ─▶ store closed ─▶ unlocked
 * One per data folder.
 */
export class Daemon {
  readonly info: DaemonInfo;
  readonly link: string;
  readonly api: Api;
  /** Settles when the daemon has stopped, by any order. */
  readonly stopped: Promise<void>;
  readonly #folder: DataFolder;
  readonly #opened: OpenedStore;
  readonly #lock: FolderLock;
  readonly #log: Log;
  readonly #http: HttpServer;
  readonly #owner: string;
  readonly #engines = new Map<string, ProjectEngine>();
  readonly #settings = new Map<string, LiveSettings>();
  readonly #reactors: ReactorHost;
  readonly #channels: ProjectChannels;
  readonly #metrics: Metrics;
  readonly #agents: Services['agents'];
  readonly #attaching = new Set<string>();
  readonly #services: Services;
  readonly #settleStopped: () => void;
  #stopping: Promise<void> | null = null;

  static async start({ env, port, bind: wanted = {} }: DaemonOptions): Promise<Daemon> {
    const folder = openDataFolder(env);
    const tokens = new TokenBook(folder.tokenFile, systemClock);
    const bind = await checkBind(wanted, () => tokens.list().length > 0);
    const lock = takeLock(folder.lockFile);
    if (!lock) throw alreadyRunning(folder);
    let opened: OpenedStore | undefined;
    try {
      const log = openLog(folder.logFile);
      opened = await openFolderStore(folder, env);
      const killed = await killLeaked(folder.id);
      if (killed.length > 0) log.info(`ended ${killed.length} processes that an earlier daemon left behind`);
      const token = randomBytes(32).toString('base64url');
      const version = await buildVersion();
      let daemon: Daemon | undefined;
      const http = await startHttp({
        port,
        bind,
        token,
        callerOf: (given) => {
          try {
            return tokens.callerOf(given);
          } catch (error) {
            // A damaged file lets nobody in, and is told to whoever reads the log: not to strangers.
            log.error('a token could not be looked up', error);
            return null;
          }
        },
        services: () => daemon!.#services,
        onError: (error, what) => log.error(what, error),
        onChange: (text) => log.info(text),
      });
      const { url, publicUrl } = http;
      const info = { pid: process.pid, url, publicUrl, startedAt: opened.clock.now(), version };
      daemon = new Daemon({ folder, lock, log, opened, http, info, token, tokens, env });
      writeDaemonFile(folder, { ...info, token });
      log.info('started', info);
      return daemon;
    } catch (error) {
      await opened?.store.close();
      lock.release();
      throw error;
    }
  }

  private constructor(parts: {
    folder: DataFolder;
    lock: FolderLock;
    log: Log;
    opened: OpenedStore;
    http: HttpServer;
    info: DaemonInfo;
    token: string;
    tokens: TokenBook;
    env: NodeJS.ProcessEnv;
  }) {
    this.#folder = parts.folder;
    this.#lock = parts.lock;
    this.#log = parts.log;
    this.#opened = parts.opened;
    this.#metrics = new Metrics(parts.opened.store, parts.opened.clock, (text, error) => parts.log.error(text, error));
    this.#agents = createAgentSearch(parts.opened.clock);
    this.#http = parts.http;
    this.info = parts.info;
    this.link = pageLink({ ...parts.info, token: parts.token });
    this.#owner = `${parts.folder.id}/${parts.opened.ids.next('daemon')}`;
    const { store, clock } = parts.opened;
    const onNote = (text: string, error?: unknown) => this.#note(text, error);
    this.#reactors = new ReactorHost({ store, clock, onNote });
    this.#channels = new ProjectChannels({
      ...{
        store,
        clock,
        reactors: this.#reactors,
        env: parts.env,
        apiUrl: parts.info.url,
        dataDir: parts.folder.path,
        homeId: parts.folder.id,
      },
      onNote,
    });
    this.#services = this.#makeServices(parts.tokens);
    this.api = createLocalApi(this.#services);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#settleStopped = resolve;
  }

  /** Starts work on a repository, named by its top folder. Its config is read now and followed from then on. */
  async attach(root: string, workers?: number): Promise<{ project: Project; warnings: string[] }> {
    const known = await this.#opened.store.projectByRoot(root);
    if (this.#attaching.has(root) || (known && this.#engines.has(known.id))) throw worksAlready(root, this.info);
    if (this.#stopping)
      throw new AppError('daemon_unreachable', 'the daemon is stopping', { hint: 'Try again in a moment.' });
    this.#attaching.add(root);
    try {
      const mark = settingsMark(root);
      const { project, settings } = await saveProject({ store: this.#opened.store }, root);
      const onNote = (text: string, error?: unknown) => this.#note(text, error);
      const made = await createProjectEngine(project, settings, capped(workers ?? settings.config.workers), {
        opened: this.#opened,
        folder: this.#folder,
        owner: this.#owner,
        reactors: this.#reactors,
        // We hold the folder's lock: whoever else took a lease under its name is gone. A file store has no other users.
        isOwnerDead: (owner) =>
          owner !== this.#owner && (!this.#opened.isShared || owner.startsWith(`${this.#folder.id}/`)),
        onNote,
      });
      await made.engine.start();
      this.#engines.set(project.id, made);
      const { store, clock } = this.#opened;
      const live = new LiveSettings(made, settings, workers !== undefined, {
        ...{ store, clock, metrics: this.#metrics, onNote },
        onChange: (changed, config) => this.#channels.follow(changed, config),
      });
      this.#settings.set(project.id, live);
      await live.start(mark);
      this.#log.info(`works on ${root}`);
      return { project, warnings: live.warnings };
    } finally {
      this.#attaching.delete(root);
    }
  }

  /** Graceful; called again with `now` it no longer waits for checkpoints. Work is kept either way. */
  stop({ now = false }: { now?: boolean } = {}): Promise<void> {
    if (this.#stopping && now) void this.#stopEngines(0);
    this.#stopping ??= this.#stopAll(now ? 0 : GRACE_MS);
    return this.#stopping;
  }

  async #stopAll(graceMs: number): Promise<void> {
    this.#log.info('stopping');
    try {
      await Promise.all([...this.#settings.values()].map((settings) => settings.stop()));
      await this.#stopEngines(graceMs);
      await this.#channels.stop();
      await this.#reactors.stop();
      await this.#http.close();
      await Promise.all([...this.#engines.values()].map((made) => made.close()));
      await this.#opened.store.close();
    } finally {
      removeDaemonFile(this.#folder);
      this.#lock.release();
      this.#log.info('stopped');
      this.#log.close();
      this.#settleStopped();
    }
  }

  async #stopEngines(graceMs: number): Promise<void> {
    await Promise.all([...this.#engines.values()].map(({ engine }) => engine.stop({ graceMs })));
  }

  #note(text: string, error?: unknown): void {
    if (error === undefined) this.#log.info(text);
    else this.#log.error(text, error);
  }

  /** Shows what the terminal channel has to say; returns how to stop. */
  onNotice(show: (text: string) => void): () => void {
    return this.#channels.screens.add(show);
  }

  #makeServices(access: TokenBook): Services {
    const { store, clock, ids, name } = this.#opened;
    const lend = atMost(MOST_LOOKS);
    return {
      store,
      clock,
      ids,
      folder: this.#folder,
      daemon: this.info,
      reactors: this.#reactors,
      access,
      hash: sha256,
      sandbox: sandboxView,
      withWorkspace: (project, work) =>
        lend(() => {
          const own = this.#engines.get(project.id)?.workspace;
          return own ? work(own) : borrowWorkspace(project, this.#folder, clock, work);
        }),
      metrics: this.#metrics,
      agents: this.#agents,
      absenceOf,
      promptsOf,
      isRunning: (projectId) => this.#engines.has(projectId),
      outside: (projectId) => this.#engines.get(projectId)?.engine.outside ?? null,
      isWaitingForPerson: (projectId) => this.#engines.get(projectId)?.engine.isWaitingForPerson ?? false,
      warnings: (projectId) => this.#settings.get(projectId)?.warnings ?? [],
      // What else could keep it from being worked on is found when its workspace is opened.
      attach: async (folder, workers) => this.attach(await rootOf(folder), workers),
      channels: this.#channels,
      emergencyStop: async (order) => {
        const stopping = [...this.#engines].map(([id, { engine }]) => ({
          id,
          stop: engine.fleet.emergencyStop(order),
        }));
        return new Map(await Promise.all(stopping.map(async ({ id, stop }) => [id, await stop] as const)));
      },
      // The answer goes out first; then the daemon takes itself down.
      stop: (now) => void setImmediate(() => void this.stop({ now })),
      examine: async () => {
        const { examineMachine } = await import('./examine.ts');
        return examineMachine({
          store,
          storeName: name,
          folderId: this.#folder.id,
          dataFolder: this.#folder.path,
          daemonPid: process.pid,
        });
      },
    };
  }
}

const capped = (workers: number) => Math.min(workers, MAX_WORKERS);

function alreadyRunning(folder: DataFolder): AppError {
  const other = readDaemonFile(folder);
  return new AppError(
    'daemon_running',
    other
      ? `a daemon already serves ${folder.path}: pid ${other.pid}, ${other.url}`
      : `a daemon is just starting on ${folder.path}`,
    { hint: 'Stop it with `tidemill stop`, or set TIDEMILL_HOME to another folder.', retriable: true },
  );
}

function worksAlready(root: string, { pid, url }: DaemonInfo): AppError {
  return new AppError('daemon_running', `a daemon already works on ${root}: pid ${pid}, ${url}`, {
    hint: 'Look at it with `tidemill status`, stop it with `tidemill stop`.',
  });
}
