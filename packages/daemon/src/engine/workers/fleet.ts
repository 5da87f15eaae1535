import { type Actor, ENGINE, type EventBody, REACTORS, type Role, type Worker, workerIdOf } from '@tidemill/contract';
import { HEARTBEAT_MS, isOutsideOwner } from '@tidemill/core';
import type { ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { snapshotWork } from '../dispatch/recovery.ts';
import { executeAccepted } from '../flows/atomic.ts';
import { emergencyCommands } from '../flows/emergency.ts';
import type { EmergencyOrder, EmergencyReport } from '../project-work.ts';
import { SessionMirror } from '../reactors/session-mirror.ts';
import type { StageReport } from '../stages/agent-stage.ts';
import { LeasedTask } from './leased-work.ts';
import { Slot, type SlotTools } from './slot.ts';

/** How long killed work may take to release its lease. After that the lease is taken. */
const RELEASE_MS = 2_000;
const UNASSIGN_PAGE = 1000;
/** An outside worker or another host without heartbeats for this long is removed. */
const FORGOTTEN_MS = 24 * 3_600_000;

/**
 * The workers of a project, their desired states and their heartbeats.
 *
 *   worker.registered ──▶ slot added · worker.removed ──▶ slot removed, its work kept
 *   an outside worker has no slot: when it is stopped or removed, its task is taken
 *   worker.steered: running | paused (no claims) | frozen (suspended) | stopped (task released, work kept)
 */
export class Fleet {
  readonly #deps: EngineDeps;
  readonly #tools: SlotTools;
  readonly #mirror: SessionMirror;
  readonly #onFree: () => void;
  #slots: Slot[];
  /** True during an emergency stop: nothing is claimed. */
  isHalted = false;

  /** `onFree`: another worker may claim now. */
  constructor(deps: EngineDeps, tools: SlotTools, onFree: () => void) {
    this.#deps = deps;
    this.#tools = tools;
    this.#onFree = onFree;
    this.#mirror = new SessionMirror(deps);
    const builders = Array.from({ length: deps.workers }, (_, index) => `agent-${index + 1}`);
    const slot = (name: string, role: Role) =>
      new Slot(deps, tools, { workerId: workerIdOf(deps.project.id, name, deps.host), name, role });
    this.#slots = [
      // Finishing comes before starting: the queue drains from its end.
      slot('merger', 'merger'),
      slot('verifier', 'verifier'),
      slot('review-agent', 'reviewer'),
      ...builders.map((name) => slot(name, 'builder')),
    ];
  }

  /** In the order in which they claim. */
  get slots(): readonly Slot[] {
    return this.#slots;
  }

  /** Registers the workers. Their desired states are kept. */
  async register(): Promise<void> {
    const { store, project, host } = this.#deps;
    await this.#takeOverRows();
    const wanted = new Set(this.#slots.map((slot) => slot.workerId));
    const [workers, leased] = await Promise.all([store.workers(project.id), store.leased(project.id)]);
    for (const worker of workers) {
      const { id: workerId } = worker;
      const isBusy = leased.some(({ lease }) => lease?.workerId === workerId);
      const isOurs = !worker.isOutside && (worker.host === '' || worker.host === host);
      const isGone = isOurs || (!isBusy && this.#isForgotten(worker, workers));
      if (wanted.has(workerId) || !isGone) continue;
      await store.execute({ type: 'worker.remove', projectId: project.id, workerId });
    }
    for (const { workerId, name, role } of this.#slots)
      await store.execute({ type: 'worker.register', projectId: project.id, workerId, name, role, host });
    const known = await store.workers(project.id);
    // Includes tasks of a worker that was removed just before the last daemon died.
    await this.#unassign((assignee) => !known.some(({ id }) => id === assignee));
    await this.#applyDesired(known);
    await this.#mirror.begin(this.#slots.filter(hasAgent).map(({ name }) => name));
  }

  /** Rows without a host become rows of this host, with their statistics, unless another daemon was first. */
  async #takeOverRows(): Promise<void> {
    const { store, project, host } = this.#deps;
    const own = (await store.workers(project.id)).filter(({ isOutside }) => !isOutside);
    for (const slot of this.#slots) {
      const { name, role } = slot;
      const rows = own.filter((worker) => worker.name === name);
      const known = rows.find((worker) => worker.host === host) ?? rows.find((worker) => worker.host === '');
      if (!known) continue;
      const about = { projectId: project.id, workerId: known.id, name, role, host };
      const reply = await store.execute({ type: 'worker.register', ...about });
      if (reply.ok) slot.workerId = known.id;
    }
  }

  reactors(): RoutedReactor[] {
    const projectId = this.#deps.project.id;
    return [
      {
        name: 'workers',
        projectId,
        on: REACTORS.workers.on,
        handle: (call) => this.#follow(call),
      },
      { name: 'heartbeats', projectId, everyMs: HEARTBEAT_MS, handle: () => this.#beat() },
      ...(this.#deps.sessions ? [this.#mirror] : []),
    ];
  }

  async #follow(call: ReactorCall): Promise<void> {
    const { store, project } = this.#deps;
    // Applies desired states that were set during the registration.
    if (call.cause === 'start') await this.#applyDesired(await store.workers(project.id));
    if (call.cause === 'events') for (const { body } of call.events) await this.#apply(body);
  }

  /** Records a heartbeat of each worker, idle or not. A failure stops no worker. */
  async #beat(): Promise<void> {
    await Promise.all(this.#slots.filter(hasAgent).map((slot) => this.#beatOnce(slot)));
  }

  /** Records on the worker that its agent crashed or could not be started. */
  async note(slot: Slot, { setback }: StageReport): Promise<void> {
    if (setback?.failure !== 'crash' && setback?.failure !== 'spawn') return;
    const { store, project } = this.#deps;
    const status = setback.failure === 'spawn' ? 'failed' : 'crashed';
    const { workerId } = slot;
    await store.execute({ type: 'worker.crash', projectId: project.id, workerId, error: setback.message, status });
  }

  /** Writes the final state to the session files. */
  async close(): Promise<void> {
    await this.#mirror.end(this.#slots.filter(hasAgent).map(({ name }) => name));
  }

  /**
   * Kills every agent first. This uses no store and no repository, so it cannot hang. Then all workers are stopped
   * until they are resumed, leases are released, and work is kept.
   */
  async emergencyStop({ by, reason }: EmergencyOrder): Promise<EmergencyReport> {
    this.isHalted = true;
    const busy = this.#slots.filter(({ leased }) => leased !== null);
    const report = {
      workers: busy.map(({ name }) => name),
      tasks: busy.flatMap(({ leased }) => (leased instanceof LeasedTask ? leased.task.number : [])),
    };
    for (const slot of busy) slot.leased?.kill();
    const { store, project, clock } = this.#deps;
    const projectId = project.id;
    const workers = await store.workers(projectId);
    const outside = workers.filter(({ isOutside }) => isOutside);
    for (const { number, lease } of await store.leased(projectId)) {
      if (!lease || !isOutsideOwner(lease.owner)) continue;
      report.workers.push(outside.find(({ id }) => id === lease.workerId)?.name ?? lease.workerId);
      report.tasks.push(number);
    }
    report.tasks.sort((a, b) => a - b);
    // Workers of other hosts are stopped by their own daemon.
    const ids = [...new Set([...this.#slots.map(({ workerId }) => workerId), ...workers.map(({ id }) => id)])];
    // After this a crash is safe: the next start finds the workers stopped and takes their tasks.
    await executeAccepted(store, emergencyCommands(projectId, ids, { by, reason }, report));
    const patience = new AbortController();
    await Promise.race([
      Promise.all(busy.map(({ free }) => free)).finally(() => patience.abort()),
      clock.sleep(RELEASE_MS, patience.signal),
    ]);
    await this.#takeLeases(by);
    this.isHalted = false;
    return report;
  }

  async #takeLeases(by: Actor): Promise<void> {
    const { store, project, clock, owner } = this.#deps;
    const left = (await store.leased(project.id)).filter(
      ({ lease }) => lease && (lease.owner === owner || isOutsideOwner(lease.owner)),
    );
    await Promise.all(
      left.map(async (task) => {
        const why = 'emergency stop';
        await Promise.race([snapshotWork(this.#deps, task, why), clock.sleep(RELEASE_MS)]);
        await store.execute({ type: 'lease.take', projectId: project.id, subjectId: task.id, by, why });
      }),
    );
  }

  /** An outside worker has no slot that could release its task, so the task is taken. Its work is kept. */
  async #takeFromOutside(workerId: string, by: Actor, why: string): Promise<void> {
    const { store, project } = this.#deps;
    for (const task of await store.leased(project.id)) {
      if (task.lease?.workerId !== workerId || !isOutsideOwner(task.lease.owner)) continue;
      await snapshotWork(this.#deps, task, why);
      await store.execute({ type: 'lease.take', projectId: project.id, subjectId: task.id, by, why });
    }
  }

  async #apply(body: EventBody): Promise<void> {
    if (body.type === 'worker.steered') {
      if (body.desired === 'running') this.isHalted = false;
      const slot = this.#slots.find(({ workerId }) => workerId === body.workerId);
      slot?.setDesired(body.desired, body.by);
      // An emergency stop takes all leases itself.
      if (!slot && body.desired === 'stopped' && !this.isHalted)
        await this.#takeFromOutside(body.workerId, body.by, 'stopped');
      if (body.desired === 'running') this.#onFree();
    } else if (body.type === 'worker.registered') this.#add(body);
    else if (body.type === 'worker.removed') await this.#remove(body.workerId);
  }

  #add({ workerId, name, role, host = '', isOutside }: Extract<EventBody, { type: 'worker.registered' }>): void {
    if (isOutside || host !== this.#deps.host || this.#slots.some((slot) => slot.workerId === workerId)) return;
    const slot = new Slot(this.#deps, this.#tools, { workerId, name, role });
    this.#slots = [...this.#slots, slot];
    void this.#beatOnce(slot);
    this.#onFree();
  }

  async #remove(workerId: string): Promise<void> {
    const slot = this.#slots.find((each) => each.workerId === workerId);
    this.#slots = this.#slots.filter((each) => each !== slot);
    if (slot) slot.leased?.abandon('stopped');
    else await this.#takeFromOutside(workerId, ENGINE, 'its worker was removed');
    await this.#unassign((assignee) => assignee === workerId);
  }

  /** Tasks that were assigned to a removed worker become free for all. */
  async #unassign(isGone: (assignee: string) => boolean): Promise<void> {
    const { store, project } = this.#deps;
    for (let afterNumber = 0; ; ) {
      const page = await store.tasks({ projectId: project.id, afterNumber, limit: UNASSIGN_PAGE });
      for (const { id: taskId, assignee } of page)
        if (assignee !== null && isGone(assignee))
          await store.execute({ type: 'task.assign', projectId: project.id, taskId, workerId: null, by: ENGINE });
      if (page.length < UNASSIGN_PAGE) return;
      afterNumber = page.at(-1)!.number;
    }
  }

  async #applyDesired(workers: Worker[]): Promise<void> {
    for (const { id, desired, desiredBy, isOutside } of workers) {
      const by = desiredBy ?? ENGINE;
      this.#slots.find(({ workerId }) => workerId === id)?.setDesired(desired, by);
      if (isOutside && desired === 'stopped') await this.#takeFromOutside(id, by, 'stopped');
    }
  }

  /** A worker whose desired state was changed is kept, so that it does not return as running. */
  #isForgotten(worker: Worker, among: Worker[]): boolean {
    const { desired, isOutside, host } = worker;
    // Some workers of a host send no heartbeats of their own.
    const beating = isOutside ? [worker] : among.filter((other) => !other.isOutside && other.host === host);
    const last = Math.max(0, ...beating.map(({ beats }) => beats.at(-1)?.at ?? 0));
    return desired === 'running' && this.#deps.clock.now() - last > FORGOTTEN_MS;
  }

  async #beatOnce({ workerId, leased }: Slot): Promise<void> {
    const { store, project, onNote } = this.#deps;
    try {
      const used = (await leased?.control.use()) ?? { memoryMb: 0, cpuPercent: 0 };
      const beat = leased && !leased.isFrozen ? { ...used, agent: leased.signs() } : used;
      await store.execute({ type: 'worker.beat', projectId: project.id, workerId, beat });
    } catch (error) {
      onNote(`a heartbeat of ${workerId} was not recorded`, error);
    }
  }
}

/** The other workers are part of the engine and have no agent. */
const hasAgent = ({ role }: Slot) => role === 'builder' || role === 'reviewer';
