import {
  AppError,
  type Delivery,
  type DeliveryStep,
  type DeliveryStepKind,
  deliveryRef,
  withoutSecrets,
} from '@tidemill/contract';
import type { CommandOf, CommandType } from '@tidemill/core';
import type { CleanCheckout, Deliverer, DeliveryContext, StepEnd } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import { EnvironmentError } from '../stages/environment.ts';
import { proveCommit } from './prove-commit.ts';

/** The process ends. What was begun stays as it is recorded, and the next process goes on from there. */
export class ShuttingDown extends Error {}

type OwnCommand = Extract<CommandType, `delivery.${string}`>;
type Written<T extends OwnCommand> = Omit<CommandOf<T>, 'type' | 'projectId' | 'deliveryId' | 'environment' | 'owner'>;

/** Which commit should be live, and by which commands. */
export interface Way {
  commit: string;
  kind: 'run' | 'rollback';
}

/** What every delivery is carried out with. */
export interface DeliveryTools {
  deps: EngineDeps;
  deliverer: Deliverer;
  baseline: Baseline;
  /** The process ends. */
  down: AbortSignal;
}

const LONGEST_NOTE = 500;

/** Growing, without end. */
export function* pauses(): Generator<number> {
  for (let pause = 500; ; pause = Math.min(2 * pause, 60_000)) yield pause;
}

/** Its steps since its status changed. */
export const phaseOf = ({ steps, phase }: Delivery) => steps.slice(phase);

const isEndedWorkflow = ({ kind, result }: DeliveryStep) =>
  kind === 'workflow' && result !== 'running' && result !== 'interrupted';

/** The single steps of a delivery. Each is recorded before it starts and after it has ended. */
export class DeliverySteps {
  readonly #deps: EngineDeps;
  readonly #deliverer: Deliverer;
  readonly #of: { projectId: string; deliveryId: string; environment: string; owner: string };
  readonly #down: AbortSignal;
  readonly #baseline: Baseline;
  /** Ends the commands: a person stopped it. A rollback gets a new one. */
  #stop = new AbortController();

  constructor({ deps, deliverer, baseline, down }: DeliveryTools, delivery: Delivery) {
    this.#deps = deps;
    this.#deliverer = deliverer;
    this.#baseline = baseline;
    const { id: deliveryId, projectId, environment } = delivery;
    this.#of = { projectId, deliveryId, environment, owner: deps.owner };
    this.#down = down;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** The stop was for what failed. What follows can be stopped too. */
  renewStop(): void {
    this.#stop = new AbortController();
  }

  async row(): Promise<Delivery> {
    return (await this.#patiently(() => this.#deps.store.record('delivery', this.#of.deliveryId)))!;
  }

  /** A refusal means that another process has taken it: this one must not go on. */
  async write<T extends OwnCommand>(type: T, more: Written<T>): Promise<void> {
    const command = { type, ...this.#of, ...more } as unknown as CommandOf<T>;
    const reply = await this.#patiently(() => this.#deps.store.execute(command));
    if (!reply.ok) throw new AppError(reply.refusal.code, `${type} was refused: ${reply.refusal.message}`);
  }

  /** Runs the gates on the commit and records the receipts. Returns why it is not proven, or null. */
  async prove(delivery: Delivery): Promise<string | null> {
    const signal = this.#signal();
    const end = await this.#step('prove', `run the gates on ${delivery.commit.slice(0, 10)}`, async () => {
      const proof = await proveCommit(this.#deps, this.#baseline, delivery, signal).catch((error: unknown) => {
        if (signal.aborted) return null;
        // The machine is the cause, not the commit.
        if (error instanceof EnvironmentError) return { reports: [], failed: error.message };
        throw error;
      });
      if (proof === null || signal.aborted) return { result: 'stopped', note: 'it was stopped' };
      const { reports, failed } = proof;
      const receipts = reports.map(({ receipt }) => receipt);
      if (receipts.length > 0) await this.write('delivery.prove', { tree: delivery.tree, receipts });
      return failed === null
        ? { result: 'passed', note: 'all gates passed' }
        : { result: 'failed', note: short(failed) };
    });
    return end.result === 'passed' ? null : this.reason(end);
  }

  /** Runs the commands on a clean checkout of the commit. Returns why it failed, or null. */
  apply(delivery: Delivery, way: Way): Promise<string | null> {
    const { environment } = this.#of;
    return this.#onCheckout(delivery, way, async (context, checkout) => {
      const signal = this.#signal();
      const workflow = this.#deliverer.workflowOf(environment);
      const commands = this.#deliverer.commands(environment, way.kind);
      if (workflow !== null && commands.length === 0) {
        const end = await this.#step('workflow', workflow, () => this.#deliverer.dispatch(context, signal));
        return end.result === 'passed' ? null : `workflow ${workflow}: ${await this.reason(end)}`;
      }
      const unprepared = await this.#prepare(checkout, way.commit, signal);
      if (unprepared !== null) return `the checkout could not be prepared: ${unprepared}`;
      for (const command of commands) {
        const name = withoutSecrets(command).slice(0, LONGEST_NOTE);
        const end = await this.#step(way.kind, name, () => this.#deliverer.run(context, command, signal));
        if (end.result !== 'passed') return `\`${name}\`: ${await this.reason(end)}`;
      }
      return null;
    });
  }

  async #prepare(checkout: CleanCheckout, base: string, signal: AbortSignal): Promise<string | null> {
    const { preparation } = this.#deps;
    if (!preparation) return null;
    const end = await this.#step('prepare', 'prepare the checkout', async () => {
      const made = await preparation.checkout(checkout, { base, signal });
      if (made.kind === 'ready') return { result: 'passed', note: 'prepared' };
      return { result: signal.aborted ? 'stopped' : 'failed', note: short(made.text) };
    });
    return end.result === 'passed' ? null : this.reason(end);
  }

  /** Passes where no check is configured. */
  async check(delivery: Delivery, kind: 'health' | 'rollback_health', way: Way): Promise<StepEnd> {
    const name = this.#deliverer.healthOf(this.#of.environment);
    if (name === null) return { result: 'passed', note: 'no health check is configured' };
    return this.#onCheckout(delivery, way, (context) =>
      this.#step(kind, name, () => this.#deliverer.check(context, this.#signal())),
    );
  }

  async #onCheckout<T>(
    delivery: Delivery,
    { commit, kind }: Way,
    work: (context: DeliveryContext, checkout: CleanCheckout) => Promise<T>,
  ): Promise<T> {
    const checkout = await this.#patiently(() => this.#deps.workspace.checkOut(commit));
    try {
      const { id: deliveryId, environment, number, previous } = delivery;
      const { steps } = await this.row();
      const context = {
        ...{ deliveryId, environment, ref: deliveryRef(number), commit, path: checkout.path },
        previous: previous?.commit ?? null,
        isRollback: kind === 'rollback',
        attempt: steps.filter(isEndedWorkflow).length,
        isResumed: steps.findLast((step) => step.kind === 'workflow')?.result === 'interrupted',
        down: this.#down,
      };
      return await work(context, checkout);
    } finally {
      await checkout.close();
    }
  }

  /** The intention first, so that a crash leaves the mark of what was running. */
  async #step(kind: DeliveryStepKind, name: string, work: () => Promise<StepEnd>): Promise<StepEnd> {
    await this.write('delivery.step_begin', { kind, name });
    const end = await work().catch((error: unknown): StepEnd => {
      if (!(error instanceof AppError) && !this.#down.aborted) throw error;
      return { result: 'failed', note: short((error as Error).message) };
    });
    if (this.#down.aborted) throw new ShuttingDown();
    await this.write('delivery.step_end', end);
    return end;
  }

  /** All that the present phase runs has passed, and only the check is left. */
  isApplied(delivery: Delivery, kind: Way['kind']): boolean {
    const commands = this.#deliverer.commands(this.#of.environment, kind).length;
    const passed = phaseOf(delivery).filter(({ result }) => result === 'passed');
    if (commands === 0) return passed.some((step) => step.kind === 'workflow');
    return passed.filter((step) => step.kind === kind).length === commands;
  }

  /** Why a step did not pass. */
  async reason({ result, note }: StepEnd): Promise<string> {
    const { stop } = await this.row();
    return result === 'stopped' && stop ? `stopped by ${stop.by.name}` : note;
  }

  /** What a person can run, exactly. */
  help({ number, previous, commit }: Delivery): string {
    const back = previous?.commit ?? commit;
    const commands = this.#deliverer.commands(this.#of.environment, 'rollback');
    return [
      `In a checkout of ${back} (git worktree add --detach ../rollback ${back.slice(0, 12)}):`,
      ...commands.map((each) => `  ${withoutSecrets(each)}`),
      `The output: tidemill deliver log ${deliveryRef(number)}`,
    ].join('\n');
  }

  /** Repeats what a full disk or a missing store prevents, until it works or the process ends. The steps are not repeated. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    for (const pause of pauses()) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof AppError && error.retriable) || this.#down.aborted) throw error;
        await this.#deps.clock.sleep(pause, this.#down);
      }
    }
    throw new ShuttingDown();
  }

  #signal(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, this.#down]);
  }
}

const short = (text: string) => withoutSecrets(text).slice(0, LONGEST_NOTE);
