import {
  type Delivery,
  deliveryRef,
  ENGINE,
  type EnvironmentRules,
  environmentId,
  isBusyDelivery,
  REACTORS,
} from '@tidemill/contract';
import type { Deliverer, Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import { contentsOf, newestLanded } from './contents.ts';
import { DeliveryRun } from './delivery-run.ts';
import { pauses, ShuttingDown } from './delivery-steps.ts';

const ALERTS = ['delivery_failed', 'delivery_rolled_back', 'rollback_failed'] as const;

/**
 * Follows what lands. It looks at the rows, so that a restart continues where the last process was:
 *
 *   landed, a specification done, an earlier environment healthy ──▶ request ──▶ (approval) ──▶ one run per environment
 *   a run whose process died ──▶ taken over, checked, and then finished, rolled back or asked about
 */
export class Deliveries implements Reactor {
  readonly name = 'deliveries';
  readonly projectId: string;
  readonly on = REACTORS.deliveries.on;
  readonly atOnce = 200;
  readonly #deps: EngineDeps;
  readonly #down = new AbortController();
  /** By environment. */
  readonly #runs = new Map<string, { run: DeliveryRun; end: Promise<void> }>();
  /** The last commit that was requested or refused, by environment. */
  readonly #settled = new Map<string, string>();
  #isBehind = false;
  #again = false;
  #looking: Promise<void> | null = null;
  #isStarted = false;
  #isClosing = false;

  readonly #baseline: Baseline;
  readonly #isOut: () => Promise<boolean>;

  /** `isOut`: nothing can begin now, because the disk is full or the repository is gone. */
  constructor(deps: EngineDeps, baseline: Baseline, isOut: () => Promise<boolean>) {
    this.#deps = deps;
    this.#baseline = baseline;
    this.#isOut = isOut;
    this.projectId = deps.project.id;
  }

  /** Something is delivered, or may have to be: the project is not idle. */
  get isActive(): boolean {
    return this.#isBehind || this.#runs.size > 0;
  }

  /** Called after each commit. Costs nothing where nothing is delivered automatically. */
  wake(): void {
    if (!this.#isStarted || !this.#environments().some(({ when }) => when !== 'manual')) return;
    this.#isBehind = true;
    this.#lookAgain();
  }

  /** What kept deliveries from beginning is over. */
  outageEnded(): void {
    if (this.#isStarted) this.#lookAgain();
  }

  async handle(call: ReactorCall): Promise<void> {
    this.#isStarted = true;
    if (call.cause === 'events')
      for (const { body } of call.events) {
        if (body.type === 'delivery.stopping') this.#runs.get(body.environment)?.run.stop();
        if (body.type === 'delivery.ended') await this.#resolve(body);
        // New settings may allow what was refused.
        if (body.type === 'project.configured') this.#settled.clear();
      }
    await this.#look();
  }

  /** No other one begins. Resolves when those that run have ended. */
  async settled(): Promise<void> {
    this.#isClosing = true;
    await this.#looking?.catch(() => undefined); // its caller gets the error
    await Promise.all([...this.#runs.values()].map(({ end }) => end));
  }

  /** Ends the commands. Their deliveries stay as they are recorded, for the next process. */
  async stop(): Promise<void> {
    this.#down.abort();
    await this.settled();
  }

  #lookAgain(): void {
    this.#look().catch((error: unknown) => this.#deps.onNote('deliveries could not be looked at', error));
  }

  #look(): Promise<void> {
    this.#again = true;
    this.#looking ??= this.#lookUntilDone().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #lookUntilDone(): Promise<void> {
    while (this.#again && !this.#down.signal.aborted) {
      this.#again = false;
      const { deliverer, store } = this.#deps;
      if (!deliverer) break;
      for (const rules of this.#environments()) await this.#request(rules);
      const open = await store.records({ noun: 'delivery', projectId: this.projectId, isOpen: true });
      // Also to those that are no longer in the settings.
      for (const name of new Set(open.map(({ environment }) => environment))) await this.#goOn(name, deliverer);
    }
    this.#isBehind = false;
  }

  #environments(): EnvironmentRules[] {
    return this.#deps.project.rules.delivery ?? [];
  }

  #open(name: string): Promise<Delivery[]> {
    return this.#deps.store.records({ noun: 'delivery', parent: environmentId(this.projectId, name), isOpen: true });
  }

  /** Requests what the environment follows by itself, if it does not have it. */
  async #request(rules: EnvironmentRules): Promise<void> {
    const { store, workspace, ids, onNote } = this.#deps;
    const { name: environment, when } = rules;
    if (when === 'manual') return;
    const commit = await this.#wanted(rules);
    if (commit === null || this.#settled.get(environment) === commit) return;
    if ((await this.#open(environment)).length > 0) return;
    const { projectId } = this;
    const row = await store.record('environment', environmentId(projectId, environment));
    // An earlier environment that was rolled back takes nothing away from this one.
    if (row?.live && (await workspace.commitsBetween(row.live.commit, commit, 1)).length === 0) return;
    const contents = await contentsOf({ projectId, store, workspace }, row?.live?.commit ?? null, commit);
    const spec = when === 'spec' ? await this.#doneSpec(environment) : null;
    if (when === 'spec' && spec === null) return;
    const reply = await store.execute({
      type: 'delivery.request',
      projectId,
      deliveryId: ids.next('delivery'),
      environment,
      commit,
      tree: await workspace.treeOf(commit),
      ...contents,
      cause: when,
      specId: spec,
      override: null,
      isApproved: false,
      replaces: [],
      by: ENGINE,
    });
    this.#settled.set(environment, commit);
    if (reply.ok) return;
    onNote(`nothing is delivered to ${environment}: ${reply.refusal.message}`);
    const text = `${commit.slice(0, 10)} was not delivered to ${environment}: ${reply.refusal.message}. ${reply.refusal.hint}`;
    const alert = {
      type: 'alert.raise',
      projectId,
      taskId: null,
      kind: 'delivery_failed',
      severity: 'warning',
    } as const;
    await store.execute({ ...alert, subject: environment, text });
  }

  /** What landed last; after an earlier environment, what is healthy there. */
  async #wanted({ after, when }: EnvironmentRules): Promise<string | null> {
    const { store } = this.#deps;
    const newest = await newestLanded({ projectId: this.projectId, store });
    if (after === null) return newest;
    const row = await store.record('environment', environmentId(this.projectId, after));
    const commit = row?.state === 'healthy' ? (row.live?.commit ?? null) : null;
    return when === 'spec' && commit !== newest ? null : commit;
  }

  /** A specification that was finished after the last delivery to the environment. */
  async #doneSpec(environment: string): Promise<string | null> {
    const { store } = this.#deps;
    const parent = environmentId(this.projectId, environment);
    const before = await store.records({ noun: 'delivery', parent });
    const last = Math.max(0, ...before.map(({ requestedAt }) => requestedAt));
    const specs = await store.records({ noun: 'spec', projectId: this.projectId });
    const done = specs.filter(({ status, endedAt }) => status === 'done' && (endedAt ?? 0) > last);
    return done.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))[0]?.id ?? null;
  }

  /** One at a time: first what an earlier process or an answer left, then what may begin. */
  async #goOn(name: string, deliverer: Deliverer): Promise<void> {
    if (this.#runs.has(name) || this.#isClosing) return;
    const { owner, isOwnerDead } = this.#deps;
    const open = await this.#open(name);
    const busy = open.find(isBusyDelivery);
    if (busy) {
      const isLeft = busy.owner !== null && busy.owner !== owner && isOwnerDead(busy.owner);
      const isAnswered = busy.owner === null && busy.status === 'rolling_back';
      if (isLeft || isAnswered) this.#carryOut(deliverer, busy, (run) => run.resume(busy));
      return;
    }
    const next = open.filter(({ status }) => status === 'requested').sort((a, b) => a.number - b.number)[0];
    if (next && !(await this.#isOut())) this.#carryOut(deliverer, next, (run) => run.start());
  }

  #carryOut(deliverer: Deliverer, delivery: Delivery, work: (run: DeliveryRun) => Promise<void>): void {
    const tools = { deps: this.#deps, deliverer, baseline: this.#baseline, down: this.#down.signal };
    const run = new DeliveryRun(tools, delivery);
    const end = work(run)
      .catch(async (error: unknown) => {
        if (error instanceof ShuttingDown || this.#down.signal.aborted) return;
        this.#deps.onNote(`${deliveryRef(delivery.number)} to ${delivery.environment} was interrupted`, error);
        await this.#giveUp(run, error);
      })
      .finally(() => {
        this.#runs.delete(delivery.environment);
        if (!this.#down.signal.aborted) this.#lookAgain();
      });
    this.#runs.set(delivery.environment, { run, end });
  }

  /** Until it is recorded: as long as it counts as busy, nothing else begins there. */
  async #giveUp(run: DeliveryRun, error: unknown): Promise<void> {
    const { signal } = this.#down;
    for (const pause of pauses()) {
      if (signal.aborted) return;
      try {
        return await run.giveUp(error);
      } catch (again) {
        this.#deps.onNote('the end of a delivery could not be recorded, and is tried again', again);
        await this.#deps.clock.sleep(pause, signal);
      }
    }
  }

  /** An environment that works again needs no help. */
  async #resolve({ environment, status }: { environment: string; status: Delivery['status'] }): Promise<void> {
    if (status !== 'healthy' && status !== 'rolled_back') return;
    const { store } = this.#deps;
    const over = status === 'healthy' ? ALERTS : ALERTS.filter((kind) => kind === 'rollback_failed');
    for (const kind of over)
      await store.execute({ type: 'alert.resolve', projectId: this.projectId, kind, subject: environment });
  }
}
