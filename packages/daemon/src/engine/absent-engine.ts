import { AppError, type Project, workerName } from '@tidemill/contract';
import type { Store, Workspace } from '../ports.ts';
import type { EmergencyOrder, EmergencyReport, ProjectWork } from './project-work.ts';
import { takeLeases } from './workers/take-leases.ts';

export interface AbsentDeps {
  store: Store;
  project: Project;
  withWorkspace<T>(work: (workspace: Pick<Workspace, 'snapshot'>) => Promise<T>): Promise<T>;
}

/** Stands for the engine of a project that no daemon works on from this process. It refuses what needs an engine. */
export class AbsentEngine implements ProjectWork {
  readonly isRunning = false;
  readonly isWaitingForPerson = false;
  readonly warnings = [];
  readonly #deps: AbsentDeps;
  readonly outside: ProjectWork['outside'];

  constructor(deps: AbsentDeps) {
    this.#deps = deps;
    const refuse = async () => this.#refuse();
    this.outside = { claim: refuse, release: refuse, finish: refuse };
  }

  async addWorker(): Promise<never> {
    return this.#refuse(WORKERS_HINT);
  }

  async removeWorker(): Promise<never> {
    return this.#refuse(WORKERS_HINT);
  }

  /** Nothing runs here that could be killed. The workers are stopped in the store, and leases are taken back. */
  async emergencyStop(order: EmergencyOrder): Promise<EmergencyReport> {
    const { store, project, withWorkspace } = this.#deps;
    const projectId = project.id;
    const workers = await store.workers(projectId);
    for (const { id: workerId } of workers)
      await store.execute({ type: 'worker.steer', projectId, workerId, desired: 'stopped', by: order.by });
    const left = await store.leased(projectId);
    const report = {
      workers: left.map(({ lease }) => workerName(lease!.workerId)),
      tasks: left.map(({ number }) => number),
    };
    if (left.length > 0)
      await withWorkspace((workspace) => takeLeases({ store, workspace }, left, order.by, 'emergency stop'));
    if (workers.length > 0)
      await store.execute({ type: 'emergency.record', projectId, operation: 'emergency_stop', ...order, ...report });
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

const WORKERS_HINT = ' The number of workers at the start is `workers` in .tidemill/config.yaml.';
