import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { type Api, AppError, type DaemonInfo, type Project } from '@tidemill/contract';
import { RunTokens } from '../access/run-tokens.ts';
import { StoredTokens } from '../access/tokens.ts';
import { buildVersion } from '../build-version.ts';
import { type DataFolder, openDataFolder } from '../config/data-folder.ts';
import { endGitBelow } from '../git/program.ts';
import type { Services } from '../handlers/context.ts';
import { createLocalApi } from '../handlers/index.ts';
import { type BindOptions, checkBind, checkKeys } from '../http/bind.ts';
import { type HttpServer, startHttp } from '../http/server.ts';
import type { RunAccess } from '../ports.ts';
import { killLeaked } from '../process/leaks.ts';
import { pageLink, readDaemonFile, removeDaemonFile, writeDaemonFile } from './daemon-file.ts';
import { createServices, createShared, type Shared } from './handler-context.ts';
import { LazyMcp } from './lazy-mcp.ts';
import { type FolderLock, takeLock } from './lock.ts';
import { type Log, openLog } from './log.ts';
import { RunningEngines } from './running-engines.ts';
import { type OpenedStore, openFolderStore } from './store-address.ts';

/** How long steps may take to reach a checkpoint after a stop request. Then agents are stopped, and work is kept. */
const GRACE_MS = 4000;
/** Time that the engine needs after that to record where it stopped, and how often git is ended from then on. */
const CHECKPOINT_MS = 1500;
const HURRY_EVERY_MS = 250;

export interface DaemonOptions {
  env: NodeJS.ProcessEnv;
  port: number;
  /** Default: loopback only. */
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
  /** How the agents of its runs reach it. */
  readonly runAccess: RunAccess;
  /** Settles when the daemon has stopped, for any reason. */
  readonly stopped: Promise<void>;
  readonly #folder: DataFolder;
  readonly #opened: OpenedStore;
  readonly #lock: FolderLock;
  readonly #log: Log;
  readonly #http: HttpServer;
  readonly #mcp: LazyMcp;
  readonly #shared: Shared;
  readonly #engines: RunningEngines;
  readonly #services: Services;
  readonly #settleStopped: () => void;
  #stopping: Promise<void> | null = null;
  #hasStopped = false;

  static async start({ env, port, bind: wanted = {} }: DaemonOptions): Promise<Daemon> {
    const folder = openDataFolder(env);
    const bind = await checkBind(wanted);
    const lock = takeLock(folder.lockFile);
    if (!lock) throw alreadyRunning(folder);
    let opened: OpenedStore | undefined;
    try {
      const log = openLog(folder.logFile);
      opened = await openFolderStore(folder, env, { isForWork: true });
      const tokens = await StoredTokens.open(folder.tokenFile, {
        ...opened,
        onNote: (text, error) => log.error(text, error),
      });
      checkKeys(bind, await tokens.list());
      const killed = await killLeaked(folder.id);
      if (killed.length > 0) log.info(`ended ${killed.length} processes that an earlier daemon left behind`);
      const token = randomBytes(32).toString('base64url');
      const version = await buildVersion();
      let daemon: Daemon | undefined;
      const runAccess = new RunTokens(() => `${daemon!.info.url}/mcp`);
      const mcp = new LazyMcp({
        services: () => daemon!.#services,
        version,
        onError: (error, what) => log.error(what, error),
      });
      const http = await startHttp({
        port,
        bind,
        token,
        callerOf: async (given) => runAccess.callerOf(given) ?? tokens.callerOf(given),
        services: () => daemon!.#services,
        mcp: (request, response, caller) => mcp.answer(request, response, caller),
        onError: (error, what) => log.error(what, error),
        onChange: (text) => log.info(text),
      });
      const { url, publicUrl } = http;
      const info = { pid: process.pid, url, publicUrl, startedAt: opened.clock.now(), version };
      daemon = new Daemon({ folder, lock, log, opened, http, mcp, info, token, tokens, runAccess, env });
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
    mcp: LazyMcp;
    info: DaemonInfo;
    token: string;
    tokens: StoredTokens;
    runAccess: RunTokens;
    env: NodeJS.ProcessEnv;
  }) {
    const { folder, opened, info, env, tokens: access, runAccess } = parts;
    this.#folder = folder;
    this.#lock = parts.lock;
    this.#log = parts.log;
    this.#opened = opened;
    this.#http = parts.http;
    this.#mcp = parts.mcp;
    this.runAccess = runAccess;
    this.info = info;
    this.link = pageLink({ ...info, token: parts.token });
    const onNote = (text: string, error?: unknown) => this.#note(text, error);
    const made = { opened, folder, env, info, onNote };
    this.#shared = createShared(made);
    this.#engines = new RunningEngines({ ...made, ...this.#shared, runAccess, api: () => this.api });
    this.#services = createServices(made, this.#shared, {
      engines: this.#engines,
      access,
      // The response is sent first. Then the daemon stops itself.
      stop: (now) => void setImmediate(() => void this.stop({ now })),
    });
    this.api = createLocalApi(this.#services);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#settleStopped = resolve;
  }

  /** Starts work on a repository, named by its top folder. Its config is read now and followed from then on. */
  attach(root: string, workers?: number, takeOver = false): Promise<{ project: Project; warnings: string[] }> {
    return this.#engines.attach(root, workers, takeOver);
  }

  /** Graceful. A second call with `now` does not wait for checkpoints. Work is kept in both cases. Later calls do nothing. */
  stop({ now = false }: { now?: boolean } = {}): Promise<void> {
    if (this.#stopping && now && !this.#hasStopped)
      this.#engines.stop(0).catch((error) => this.#note('hurrying the stop failed', error));
    this.#stopping ??= this.#stopAll(now ? 0 : GRACE_MS);
    return this.#stopping;
  }

  async #stopAll(graceMs: number): Promise<void> {
    this.#log.info('stopping');
    // Not awaited by anybody: whatever git still does in worktrees then ends early.
    const data = realpathSync(this.#folder.path);
    let again: NodeJS.Timeout | undefined;
    const hurry = setTimeout(() => {
      again = setInterval(() => endGitBelow(data), HURRY_EVERY_MS);
    }, graceMs + CHECKPOINT_MS);
    try {
      await this.#engines.stopFollowing();
      await this.#engines.stop(graceMs);
      await this.#shared.channels.stop();
      await this.#shared.reactors.stop();
      await this.#mcp.close();
      await this.#http.close();
      await this.#engines.close();
      await this.#opened.store.close();
    } finally {
      clearTimeout(hurry);
      clearInterval(again);
      this.#hasStopped = true;
      removeDaemonFile(this.#folder);
      this.#lock.release();
      this.#log.info('stopped');
      this.#log.close();
      this.#settleStopped();
    }
  }

  #note(text: string, error?: unknown): void {
    if (error === undefined) this.#log.info(text);
    else this.#log.error(text, error);
  }

  /** Shows messages of the terminal channel. Returns a function that stops it. */
  onNotice(show: (text: string) => void): () => void {
    return this.#shared.channels.screens.add(show);
  }
}

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
