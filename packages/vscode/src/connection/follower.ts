import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { type Api, AppError, type DaemonFile, type StreamMessage, staleAfter } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { openStream, type StreamSocket, type StreamState } from '@tidemill/contract/stream';
import { daemonFileIn, findDaemon } from './find-daemon.ts';
import { harmlessStatus } from './harmless.ts';
import { Readings } from './readings.ts';
import { type LinkState, SEEN_NOTHING, type Seen, type SeenPart } from './seen.ts';
import { whileTrusted } from './trust.ts';

/** While there is no daemon. Its file is also watched, where the system can. */
const LOOK_MS = 2000;

export interface FollowerOptions {
  dataFolder: string;
  /** The top folder of the repository. */
  root: string;
  /** Parts that somebody looks at. */
  wanted(): ReadonlySet<SeenPart>;
  onChange(part: SeenPart): void;
  /** Whether the person has trusted the workspace. */
  isTrusted(): boolean;
  /** A request that nobody waits for has failed. */
  onProblem(text: string): void;
}

/** Finds the daemon, follows the project, and finds it again after a restart. Works without the editor. */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #closing = new AbortController();
  readonly #readings: Readings;
  #seen: Seen = SEEN_NOTHING;
  #api: Api | null = null;
  #daemon: DaemonFile | null = null;
  #wake: () => void = () => undefined;
  #watcher: FSWatcher | null = null;
  readonly #looked = Promise.withResolvers<void>();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#readings = new Readings({
      signal: this.#closing.signal,
      seen: () => this.#seen,
      take: (change, part) => this.#take(change, part),
      onUnreadable: () => this.#unreadable(),
      onProblem: options.onProblem,
    });
  }

  get seen(): Seen {
    return this.#seen;
  }
  /** Null while no daemon is connected. */
  get api(): Api | null {
    return this.#api;
  }
  get daemon(): DaemonFile | null {
    return this.#daemon;
  }

  /** Settles when it is known whether there is a daemon, or nobody wants to know any more. */
  get looked(): Promise<void> {
    return this.#looked.promise;
  }

  start(): void {
    this.#run().catch((error) => {
      // Only a programming error gets here; the views must not wait silently.
      this.#options.onProblem(`Tidemill's connection has ended: ${error instanceof Error ? error.stack : error}`);
      this.#become('no_daemon');
    });
  }
  /** Looks again immediately, for example after a start. */
  look(): void {
    this.#wake();
  }
  /** Reads parts again; those that nobody wants are read when somebody does. */
  refresh(parts: Iterable<SeenPart>): void {
    const { project } = this.#seen;
    if (this.#api && project) this.#readings.refresh(this.#api, project.id, parts, this.#options.wanted());
  }
  close(): void {
    this.#closing.abort();
    this.#looked.resolve();
    this.#watcher?.close();
    this.#wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const triedAt = performance.now();
      const next = await this.#tryOnce();
      if (signal.aborted) return;
      // A daemon without this project can be asked to work on it.
      if (next !== 'no_project') {
        this.#api = null;
        this.#daemon = null;
      }
      if (next) this.#become(next);
      // A connection that does not last must not be tried without a pause.
      await this.#pause(next || performance.now() - triedAt < LOOK_MS ? LOOK_MS : 0);
    }
  }

  /** Follows until the daemon is gone (null), or says why it cannot. */
  async #tryOnce(): Promise<LinkState | null> {
    try {
      const daemon = await findDaemon(this.#options.dataFolder);
      if (!daemon) return 'no_daemon';
      const { version, startedAt } = daemon;
      this.#seen = { ...this.#seen, version, startedAt, isUnreadable: false };
      const api = whileTrusted(createClient(daemon), this.#options.isTrusted);
      const [project] = await api.projects({ root: this.#options.root }, this.#closing.signal);
      this.#daemon = daemon;
      this.#api = api;
      if (!project) return 'no_project';
      this.#seen = { ...this.#seen, project };
      await this.#follow(daemon, api, project.id);
      // So that the next connection reads everything again.
      this.#seen = { ...this.#seen, isLive: false };
      return null;
    } catch (error) {
      if (error instanceof AppError && error.code === 'version_mismatch') return 'other_version';
      if (!(error instanceof AppError)) this.#options.onProblem(`Looking for Tidemill failed: ${error}`);
      return 'no_daemon';
    }
  }

  #follow(daemon: DaemonFile, api: Api, project: string): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      const end = () => {
        signal.removeEventListener('abort', end);
        stream.close();
        resolve();
      };
      let wasLive = false;
      const onState = (state: StreamState) => {
        // A lost socket too: another daemon may answer by now, at the same address or at another one.
        const isLost = state === 'offline' || state === 'signed_out' || (state === 'connecting' && wasLive);
        wasLive ||= state === 'live';
        if (isLost) queueMicrotask(end);
        else if (state === 'live' || state === 'polling') this.#connected(state === 'live');
      };
      const stream = openStream({
        url: daemon.url,
        api,
        open: (address) => openSocket(address, daemon.token),
        subscribe: { project, views: true },
        onState,
        onMessage: (message) => this.#hear(message, api),
      });
      signal.addEventListener('abort', end, { once: true });
      // The first status comes with the first change; the views want one now.
      void this.#readings.status(api, project);
    });
  }

  #connected(isLive: boolean): void {
    if (this.#seen.state === 'ready' && this.#seen.isLive && isLive) return;
    const isNews = this.#seen.state !== 'ready' || this.#seen.isLive !== isLive;
    if (isNews) this.#take({ state: 'ready', isLive }, 'state');
    this.refresh(['tasks', 'inbox', 'conflicts', 'activity', 'metrics']);
  }

  #hear(message: StreamMessage, api: Api): void {
    const { project } = this.#seen;
    if (!project) return;
    if (message.type === 'status')
      this.#take({ status: harmlessStatus(message.status), statusAt: Date.now() }, 'status');
    else if (message.type === 'tasks') this.#readings.merge(message.tasks);
    else if (message.type === 'events') {
      this.#readings.add(message.events);
      const stale = new Set(message.events.flatMap(({ body }) => staleAfter(body.type)));
      const parts = (['inbox', 'conflicts', 'metrics'] as const).filter((part) => stale.has(part));
      if (parts.length > 0) this.refresh(parts);
      if (stale.has('projects')) void this.#readings.project(api, project.id);
    } else if (message.type === 'refused') {
      this.#options.onProblem(`Tidemill refused a request: ${message.message}`);
      if (message.code === 'version_mismatch') this.#unreadable();
    }
  }

  #unreadable(): void {
    if (!this.#seen.isUnreadable) this.#take({ isUnreadable: true }, 'state');
  }

  #take(change: Partial<Seen>, part: SeenPart): void {
    if (this.#closing.signal.aborted) return;
    this.#seen = { ...this.#seen, ...change };
    if (this.#seen.state !== 'looking') this.#looked.resolve();
    this.#options.onChange(part);
  }

  #become(state: LinkState): void {
    if (this.#seen.state === state) return;
    const { project, version, startedAt } = this.#seen;
    this.#take({ ...SEEN_NOTHING, project, version, startedAt, state }, 'state');
  }

  #pause(ms: number): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve();
    this.#watch();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#wake = done;
    });
  }

  /** Wakes when the daemon's file appears. Without it, for example in a folder that does not exist yet, the timer does. */
  #watch(): void {
    if (this.#watcher) return;
    const { dataFolder } = this.#options;
    try {
      this.#watcher = watch(dataFolder, (_, name) => {
        if (name === basename(daemonFileIn(dataFolder))) this.#wake();
      });
      this.#watcher.on('error', () => {
        this.#watcher?.close();
        this.#watcher = null;
      });
    } catch {
      this.#watcher = null;
    }
  }
}

/** Node's WebSocket takes headers, which that of browsers does not. Without any, the stream polls. */
function openSocket(url: string, token: string): StreamSocket {
  const Socket = globalThis.WebSocket as unknown as new (
    url: string,
    options: { headers: Record<string, string> },
  ) => StreamSocket;
  return new Socket(url, { headers: { authorization: `Bearer ${token}` } });
}
