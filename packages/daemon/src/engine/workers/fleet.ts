import { type Actor, ENGINE, type EventBody, type Role, type Worker, workerIdOf } from '@tidemill/contract';
import { HEARTBEAT_MS, isOutsideOwner } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { keep } from '../dispatch/recovery.ts';
import { executeAccepted } from '../flows/atomic.ts';
import { emergencyCommands } from '../flows/emergency.ts';
import type { EmergencyOrder, EmergencyReport } from '../project-work.ts';
import { SessionMirror } from '../reactors/session-mirror.ts';
import type { StageReport } from '../stages/agent-stage.ts';
import { LeasedTask } from './leased-work.ts';
import { Slot, type SlotTools } from './slot.ts';

/** How long work that was killed may take to let go by itself; then its lease is taken. */
const LET_GO_MS = 2_000;
const UNASSIGN_PAGE = 1000;
/** A worker outside the daemon, or another host, that was not heard of for so long is gone for good. */
const FORGOTTEN_MS = 24 * 3_600_000;

/**
 * The workers of a project: who is there, what a person wants of each, and its signs of life.
 *
 *   worker.registered ──▶ a slot more · worker.removed ──▶ a slot less, its work kept
 *   one outside the daemon has no slot: it is only told apart from those that are gone, and what it holds is taken
 *   worker.steered: running | paused (no claims) | frozen (stands still) | stopped (let go of the task, work kept)
 */
export class Fleet {
  readonly #deps: EngineDeps;
  readonly #tools: SlotTools;
  readonly #mirror: SessionMirror;
  readonly #onFree: () => void;
  #slots: Slot[];
  /** Nothing is claimed from the moment an emergency stop was asked for. */
  isHalted = false;

  /** `onFree`: somebody may claim who could not before. */
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

  /** Puts the workers on record. What a person wanted of them before still holds. */
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
    // Also what belonged to a worker that was removed just before the last daemon died.
    await this.#unassign((assignee) => !known.some(({ id }) => id === assignee));
    await this.#obey(known);
    await this.#mirror.begin(this.#slots.filter(hasAgent).map(({ name }) => name));
  }

  /** Rows from before there were hosts go on as ours, with their figures, unless another daemon was first. */
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

  reactors(): Reactor[] {
    const projectId = this.#deps.project.id;
    return [
      {
        ...{ name: 'workers', projectId, on: ['worker.registered', 'worker.removed', 'worker.steered'] },
        handle: (call) => this.#follow(call),
      },
      { name: 'heartbeats', projectId, everyMs: HEARTBEAT_MS, handle: () => this.#beat() },
      ...(this.#deps.sessions ? [this.#mirror] : []),
    ];
  }

  async #follow(call: ReactorCall): Promise<void> {
    const { store, project } = this.#deps;
    // What was ordered while the workers were being put on record.
    if (call.cause === 'start') await this.#obey(await store.workers(project.id));
    if (call.cause === 'events') for (const { body } of call.events) await this.#hear(body);
  }

  /** A sign of life of each worker, idle or not. One that cannot be recorded stops nobody. */
  async #beat(): Promise<void> {
    await Promise.all(this.#slots.filter(hasAgent).map((slot) => this.#beatOnce(slot)));
  }

  /** An agent that died, or could not be started, shows on its worker until that works again. */
  async note(slot: Slot, { setback }: StageReport): Promise<void> {
    if (setback?.failure !== 'crash' && setback?.failure !== 'spawn') return;
    const { store, project } = this.#deps;
    const status = setback.failure === 'spawn' ? 'failed' : 'crashed';
    const { workerId } = slot;
    await store.execute({ type: 'worker.crash', projectId: project.id, workerId, error: setback.message, status });
  }

  /** The last that is told of the workers: nobody runs them any more. */
  async close(): Promise<void> {
    await this.#mirror.end(this.#slots.filter(hasAgent).map(({ name }) => name));
  }

  /**
   * Every agent is killed before anything else is done, and nothing it needs for that can hang: no store, no
   * repository, no graceful way. Then all workers are stopped until somebody resumes them, leases released, work kept.
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
    // Those of other hosts are stopped by their own daemon.
    const ids = [...new Set([...this.#slots.map(({ workerId }) => workerId), ...workers.map(({ id }) => id)])];
    // From here on a crash changes nothing: the next start finds the workers stopped, and takes what they held.
    await executeAccepted(store, emergencyCommands(projectId, ids, { by, reason }, report));
    const patience = new AbortController();
    await Promise.race([
      Promise.all(busy.map(({ free }) => free)).finally(() => patience.abort()),
      clock.sleep(LET_GO_MS, patience.signal),
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
        await Promise.race([keep(this.#deps, task, why), clock.sleep(LET_GO_MS)]);
        await store.execute({ type: 'lease.take', projectId: project.id, subjectId: task.id, by, why });
      }),
    );
  }

  /** A worker outside the daemon has no slot that would let go: what it has in hand is taken, its work kept. */
  async #takeFromOutside(workerId: string, by: Actor, why: string): Promise<void> {
    const { store, project } = this.#deps;
    for (const task of await store.leased(project.id)) {
      if (task.lease?.workerId !== workerId || !isOutsideOwner(task.lease.owner)) continue;
      await keep(this.#deps, task, why);
      await store.execute({ type: 'lease.take', projectId: project.id, subjectId: task.id, by, why });
    }
  }

  async #hear(body: EventBody): Promise<void> {
    if (body.type === 'worker.steered') {
      if (body.desired === 'running') this.isHalted = false;
      const slot = this.#slots.find(({ workerId }) => workerId === body.workerId);
      slot?.obey(body.desired, body.by);
      // An emergency stop takes everything by itself.
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

  /** What was given to a worker that is gone may be taken by any other. */
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

  async #obey(workers: Worker[]): Promise<void> {
    for (const { id, desired, desiredBy, isOutside } of workers) {
      const by = desiredBy ?? ENGINE;
      this.#slots.find(({ workerId }) => workerId === id)?.obey(desired, by);
      if (isOutside && desired === 'stopped') await this.#takeFromOutside(id, by, 'stopped');
    }
  }

  /** One that a person has steered is kept: it must not come back as if nothing had been said. */
  #isForgotten(worker: Worker, among: Worker[]): boolean {
    const { desired, isOutside, host } = worker;
    // Some workers of a host give no signs of life of their own.
    const beating = isOutside ? [worker] : among.filter((other) => !other.isOutside && other.host === host);
    const last = Math.max(0, ...beating.map(({ beats }) => beats.at(-1)?.at ?? 0));
    return desired === 'running' && this.#deps.clock.now() - last > FORGOTTEN_MS;
  }

  async #beatOnce({ workerId, leased }: Slot): Promise<void> {
    const { store, project, onNote } = this.#deps;
    try {
      const beat = (await leased?.control.use()) ?? { memoryMb: 0, cpuPercent: 0 };
      await store.execute({ type: 'worker.beat', projectId: project.id, workerId, beat });
    } catch (error) {
      onNote(`a heartbeat of ${workerId} was not recorded`, error);
    }
  }
}

/** The others are the engine's own hands: they live and die with it. */
const hasAgent = ({ role }: Slot) => role === 'builder' || role === 'reviewer';
