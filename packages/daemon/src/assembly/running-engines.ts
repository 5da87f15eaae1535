import { type Api, AppError, type DaemonInfo, MAX_WORKERS, type Project, workerLabel } from '@tidemill/contract';
import type { DataFolder } from '../config/data-folder.ts';
import { createOutputFiles } from '../config/output-files.ts';
import { settingsMark } from '../config/watch.ts';
import type { KeptProject } from '../engine/housekeeping/survey.ts';
import type { EmergencyOrder, EmergencyReport, ProjectWork } from '../engine/project-work.ts';
import { Housekeeping } from '../engine/reactors/housekeeping.ts';
import type { LentWorkspace } from '../handlers/context.ts';
import { identityOf } from '../handlers/project/identity.ts';
import { saveProject } from '../handlers/project/project.ts';
import type { ReactorHandle, RunAccess } from '../ports.ts';
import { AbsentEngines, type ProcessEngines } from './engines.ts';
import type { Shared } from './handler-context.ts';
import { LiveSettings } from './live-settings.ts';
import { createProjectEngine, type ProjectEngine } from './project-engine.ts';
import { claimRepository, type Owner, sharedStore } from './repository-owner.ts';
import { SessionRequests } from './session-requests.ts';
import { setupMistakes, setupWarnings } from './setup-warnings.ts';

interface Running {
  made: ProjectEngine;
  live: LiveSettings;
  requests: SessionRequests;
}

interface Host extends Shared {
  info: DaemonInfo;
  folder: DataFolder;
  runAccess: RunAccess;
  env: NodeJS.ProcessEnv;
  /** What requests in files use. */
  api(): Api;
  onNote(text: string, error?: unknown): void;
}

/** The projects that this daemon works on. A project that is not among them has an absent engine. */
export class RunningEngines implements ProcessEngines {
  readonly #host: Host;
  readonly #absent: AbsentEngines;
  readonly #owner: string;
  readonly #running = new Map<string, Running>();
  readonly #attaching = new Set<string>();
  readonly #ending = new AbortController();
  #housekeeping: ReactorHandle | null = null;
  #isStopping = false;

  constructor(host: Host) {
    this.#host = host;
    this.#absent = new AbsentEngines(host.opened, host.folder);
    this.#owner = `${host.folder.id}/${host.opened.ids.next('daemon')}`;
  }

  of(project: Project): ProjectWork {
    const found = this.#running.get(project.id);
    if (!found) return this.#absent.of(project);
    const { made, live } = found;
    const { engine } = made;
    return {
      isRunning: true,
      isWaitingForPerson: engine.isWaitingForPerson,
      holds: () => engine.holds(),
      isPushing: engine.isPushing,
      isDelivering: engine.isDelivering,
      preparing: made.preparing,
      warnings: live.warnings,
      outside: engine.outside,
      tracker: engine.tracker,
      hasCaughtUp: () => engine.hasCaughtUp(),
      lookOutside: () => engine.lookOutside(),
      addWorker: () => engine.addWorker(),
      removeWorker: (worker) => engine.removeWorker(worker),
      emergencyStop: (order) => engine.fleet.emergencyStop(order),
    };
  }

  workspaceOf({ id }: Project): LentWorkspace | null {
    return this.#running.get(id)?.made.workspace ?? null;
  }

  /** Starts work on a repository, named by its top folder. Its config is read now and followed from then on. */
  async attach(root: string, workers?: number, takeOver = false): Promise<{ project: Project; warnings: string[] }> {
    const { opened, info } = this.#host;
    // The first project of a daemon cannot run here yet: git is not asked which one it is.
    const known = this.#running.size > 0 ? (await identityOf(opened.store, root)).known : null;
    const running = known && this.#running.get(known.id);
    if (running && takeOver) return this.#takeBack(root, known, running);
    if (this.#attaching.has(root) || running) throw worksAlready(root, info);
    if (this.#isStopping)
      throw new AppError('daemon_unreachable', 'the daemon is stopping', { hint: 'Try again in a moment.' });
    this.#attaching.add(root);
    try {
      return await this.#start(root, workers, takeOver);
    } finally {
      this.#attaching.delete(root);
    }
  }

  /** The engine waits while the repository belongs to another data folder, and finds out when it does no more. */
  async #takeBack(root: string, project: Project, { live }: Running) {
    const refused = await claimRepository(root, this.#ownerOf(project), true);
    if (refused) throw refused;
    return { project, warnings: live.warnings };
  }

  #ownerOf(project: Project): Owner {
    const { opened, folder } = this.#host;
    return { ...folder, store: opened.isShared ? sharedStore(project) : null };
  }

  async #start(
    root: string,
    workers: number | undefined,
    takeOver: boolean,
  ): Promise<{ project: Project; warnings: string[] }> {
    const { opened, folder, reactors, metrics, channels, runAccess, onNote } = this.#host;
    const { store, clock } = opened;
    const mark = settingsMark(root);
    const { project, settings } = await saveProject({ store }, root);
    const own = this.#ownerOf(project);
    const refused = await claimRepository(root, own, takeOver);
    if (refused) throw refused;
    const made = await createProjectEngine(project, settings, capped(workers ?? settings.config.workers), {
      opened,
      folder,
      owner: this.#owner,
      runAccess,
      env: this.#host.env,
      reactors,
      // This process holds the folder's lock, so any other owner of its leases is dead. A file store has no other
      // users.
      isOwnerDead: (owner) => owner !== this.#owner && (!opened.isShared || owner.startsWith(`${folder.id}/`)),
      takenOver: async () => {
        const lost = await claimRepository(root, own);
        return lost && `${lost.message}. ${lost.hint}`;
      },
      onNote,
    });
    await made.engine.start();
    const live = new LiveSettings(made, settings, workers !== undefined, {
      store,
      clock,
      host: folder.host,
      metrics,
      onNote,
      setupMistakes: () => setupMistakes(root, own),
      setupWarnings: () => setupWarnings(root, own),
      onChange: (changed, config) => channels.follow(changed, config),
    });
    const requests = this.#requestsOf(made, live);
    this.#running.set(project.id, { made, live, requests });
    if (!this.#housekeeping) this.#housekeeping = reactors.add(this.#keepHouse(), await store.lastSeq());
    await live.start(mark);
    requests.start();
    onNote(`working on ${root}`);
    return { project, warnings: live.warnings };
  }

  #requestsOf({ project }: ProjectEngine, live: LiveSettings): SessionRequests {
    const { opened, folder, api, onNote } = this.#host;
    return new SessionRequests({
      project,
      api: api(),
      clock: opened.clock,
      config: () => live.config,
      async labelOf(name) {
        const workers = await opened.store.workers(project.id);
        const own = workers.find((worker) => worker.name === name && worker.host === folder.host);
        return own ? workerLabel(own, workers) : name;
      },
      onNote,
    });
  }

  /** One for all projects, because they share the data folder. */
  #keepHouse(): Housekeeping {
    const { opened, folder, onNote } = this.#host;
    const { store, clock } = opened;
    const projects = () =>
      [...this.#running.values()].map(
        ({ made, live }): KeptProject => ({
          project: made.project,
          config: live.config.housekeeping,
          withWorkspace: (work) => work(made.workspace),
        }),
      );
    const { signal } = this.#ending;
    return new Housekeeping({ store, clock, files: createOutputFiles(folder, clock), projects, signal, onNote });
  }

  /** Kills the agents of this process before it uses the store. */
  async emergencyStop(order: EmergencyOrder): Promise<EmergencyReport[]> {
    const here = [...this.#running.values()].map(({ made }) => made.engine.fleet.emergencyStop(order));
    const elsewhere = this.#absent.emergencyStop(order, ({ id }) => !this.#running.has(id));
    return [...(await Promise.all(here)), ...(await elsewhere)];
  }

  /** Stops attaching projects and following configs. */
  async stopFollowing(): Promise<void> {
    this.#isStopping = true;
    this.#ending.abort();
    await Promise.all([...this.#running.values()].flatMap(({ live, requests }) => [live.stop(), requests.stop()]));
  }

  /** A second call may use a shorter time. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([
      this.#housekeeping?.stop(),
      ...[...this.#running.values()].map(({ made }) => made.engine.stop({ graceMs })),
    ]);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ made }) => made.close()));
  }
}

const capped = (workers: number) => Math.min(workers, MAX_WORKERS);

function worksAlready(root: string, { pid, url }: DaemonInfo): AppError {
  return new AppError('daemon_running', `a daemon already works on ${root}: pid ${pid}, ${url}`, {
    hint: 'Look at it with `tidemill status`, stop it with `tidemill stop`.',
  });
}
