import { AppError, type Project } from '@tidemill/contract';
import { type HeldStarts, NO_HOLDS } from './dispatch/held-starts.ts';
import { emergencyCommands, reportOf } from './flows/emergency.ts';
import { type LeaseTaking, takeLeases } from './flows/take-leases.ts';
import type { EmergencyOrder, EmergencyReport, ProjectWork } from './project-work.ts';

interface AbsentDeps extends LeaseTaking {
  project: Project;
}

/** Replaces the engine of a project that this process does not work on. It refuses everything that needs an engine. */
export class AbsentEngine implements ProjectWork {
  readonly isRunning = false;
  readonly isWaitingForPerson = false;
  readonly isPushing = false;
  readonly isDelivering = false;
  readonly preparing = [];
  readonly warnings = [];
  readonly #deps: AbsentDeps;
  readonly outside: ProjectWork['outside'];
  readonly tracker: ProjectWork['tracker'];

  constructor(deps: AbsentDeps) {
    this.#deps = deps;
    const refuse = async () => this.#refuse();
    this.outside = { claim: refuse, release: refuse, finish: refuse };
    const unknown = { name: null, url: null, isFollowed: false, syncedAt: null, trouble: null };
    this.tracker = { state: () => unknown, sync: refuse, wake: () => undefined };
  }

  async holds(): Promise<HeldStarts> {
    return NO_HOLDS;
  }

  /** There is nobody to wait for. */
  hasCaughtUp(): Promise<boolean> {
    return Promise.resolve(true);
  }

  lookOutside(): void {
    // The next start looks.
  }

  async addWorker(): Promise<never> {
    return this.#refuse(WORKERS_HINT);
  }

  async removeWorker(): Promise<never> {
    return this.#refuse(WORKERS_HINT);
  }

  /** There is no process to kill. The workers are stopped in the store, and their leases are taken back. */
  async emergencyStop(order: EmergencyOrder): Promise<EmergencyReport> {
    const { store, project } = this.#deps;
    const [workers, left] = await Promise.all([store.workers(project.id), store.leased(project.id)]);
    const report = reportOf(left);
    if (workers.length === 0) return report;
    const ids = workers.map(({ id }) => id);
    const commands = emergencyCommands(project.id, ids, order, report);
    await takeLeases(this.#deps, left, { by: order.by, why: 'emergency stop' }, commands);
    return report;
  }

  #refuse(more = ''): never {
    const { name, root } = this.#deps.project;
    throw new AppError('daemon_unreachable', `no daemon is working on ${name}`, {
      hint: `Start one with \`tidemill up\` in ${root}.${more}`,
      retriable: true,
    });
  }
}

const WORKERS_HINT = ' To start with more or fewer workers, change `workers` in .tidemill/config.yaml.';
