import { AppError, type Delivery, type DeliveryStepKind, deliveryRef, withoutSecrets } from '@tidemill/contract';
import type { CommandOf, CommandType } from '@tidemill/core';
import type { CleanCheckout, Deliverer, DeliveryContext, StepEnd } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** The process ends. What was begun stays as it is recorded, and the next process goes on from there. */
export class ShuttingDown extends Error {}

type OwnCommand = Extract<CommandType, `delivery.${string}`>;
type Written<T extends OwnCommand> = Omit<CommandOf<T>, 'type' | 'projectId' | 'deliveryId' | 'environment' | 'owner'>;

/**
 * Carries out one delivery. Each step is recorded before it starts and after it has ended.
 *
 *   begin ──▶ checkout, prepare ──▶ commands ──▶ health check ──▶ healthy
 *                        └── failed, stopped ──┴──▶ rollback: checkout of the earlier commit, commands, check
 */
export class DeliveryRun {
  readonly #deps: EngineDeps;
  readonly #deliverer: Deliverer;
  readonly id: string;
  readonly environment: string;
  readonly #projectId: string;
  /** Ends the commands: a person stopped it. A rollback gets a new one. */
  #stop = new AbortController();
  readonly #down: AbortSignal;

  constructor(deps: EngineDeps, deliverer: Deliverer, delivery: Delivery, down: AbortSignal) {
    this.#deps = deps;
    this.#deliverer = deliverer;
    this.id = delivery.id;
    this.environment = delivery.environment;
    this.#projectId = delivery.projectId;
    this.#down = down;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** From its beginning. */
  async start(): Promise<void> {
    const begun = await this.#deps.store.execute({ type: 'delivery.begin', ...this.#about() });
    if (!begun.ok) return this.#deps.onNote(`a delivery did not begin: ${begun.refusal.message}`);
    const delivery = await this.#row();
    if (delivery.status === 'running') await this.#deliver(delivery);
  }

  /** After another process, or a person's answer. It never runs blindly again what was cut short. */
  async resume(delivery: Delivery): Promise<void> {
    await this.#write('delivery.take', { from: delivery.owner });
    const taken = await this.#row();
    const phase = taken.steps.slice(taken.phase);
    const isCut = phase.some(({ kind }) => kind === 'run' || kind === 'workflow' || kind === 'rollback');
    if (taken.status === 'checking') return this.#check(taken);
    if (taken.status === 'rolling_back') return isCut ? this.#resumeRollback(taken) : this.#rollBack(taken, taken.why);
    if (taken.status !== 'running') return;
    if (!isCut) return this.#deliver(taken);
    const rules = this.#rules(taken);
    if (rules?.repeatable) {
      await this.#write('delivery.move', { to: 'running', why: 'it was cut short, and its commands may be repeated' });
      return this.#deliver(await this.#row());
    }
    const why = 'the daemon ended while its commands ran';
    if (!rules?.hasHealth) return this.#ask(taken, `${why}, and there is no health check`);
    const end = await this.#checkOnce(taken, 'health', taken.commit, false);
    if (end.result === 'passed')
      return this.#ask(taken, `${why}; the health check passes, but it may be the old version`);
    return this.#rollBack(taken, `${why}, and ${end.note}`);
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const obstacle = this.#deliverer.obstacle(this.environment);
    if (obstacle !== null) return this.#end('failed', obstacle);
    const isBack = delivery.cause === 'rollback';
    const failed = await this.#apply(delivery, delivery.commit, isBack ? 'rollback' : 'run', isBack);
    if (failed === null) {
      await this.#write('delivery.move', { to: 'checking', why: '' });
      return this.#check(await this.#row());
    }
    return this.#rollBack(await this.#row(), failed);
  }

  async #check(delivery: Delivery): Promise<void> {
    const isBack = delivery.cause === 'rollback';
    const end = await this.#checkOnce(delivery, 'health', delivery.commit, isBack);
    if (end.result === 'passed') return this.#end('healthy', '');
    return this.#rollBack(await this.#row(), await this.#reason(end));
  }

  /** Back to the last healthy commit. Without one, and without commands for it, there is nothing to go back to. */
  async #rollBack(delivery: Delivery, why: string): Promise<void> {
    const touched = delivery.steps.some(({ kind }) => kind === 'run' || kind === 'workflow' || kind === 'rollback');
    if (delivery.status !== 'rolling_back') {
      if (!touched) return this.#end('failed', why);
      const { previous } = delivery;
      if (previous === null && !this.#rules(delivery)?.hasRollback)
        return this.#end('failed', `${why}; nothing healthy was there before, so nothing was rolled back`);
      await this.#write('delivery.move', { to: 'rolling_back', why });
    }
    // The stop was for what failed. The rollback can be stopped too.
    this.#stop = new AbortController();
    const commit = delivery.previous?.commit ?? delivery.commit;
    const failed = await this.#apply(delivery, commit, 'rollback', true);
    if (failed !== null) return this.#rollbackFailed(delivery, failed, why);
    const end = await this.#checkOnce(delivery, 'rollback_health', commit, true);
    if (end.result !== 'passed') return this.#rollbackFailed(delivery, await this.#reason(end), why);
    return this.#end('rolled_back', why);
  }

  async #resumeRollback(delivery: Delivery): Promise<void> {
    const rules = this.#rules(delivery);
    if (rules?.repeatable) {
      await this.#write('delivery.move', { to: 'rolling_back', why: delivery.why });
      return this.#rollBack(await this.#row(), delivery.why);
    }
    const cut = 'the daemon ended while the rollback ran';
    if (!rules?.hasHealth) return this.#rollbackFailed(delivery, `${cut}, and there is no health check`, delivery.why);
    const commit = delivery.previous?.commit ?? delivery.commit;
    const end = await this.#checkOnce(delivery, 'rollback_health', commit, true);
    if (end.result === 'passed') return this.#end('rolled_back', `${delivery.why}; ${cut}, and the check passes`);
    return this.#rollbackFailed(delivery, `${cut}, and ${end.note}`, delivery.why);
  }

  /** Runs the commands on a clean checkout of the commit. Returns why it failed, or null. */
  async #apply(
    delivery: Delivery,
    commit: string,
    kind: 'run' | 'rollback',
    isRollback: boolean,
  ): Promise<string | null> {
    return this.#onCheckout(delivery, commit, isRollback, async (context, checkout) => {
      const signal = this.#signal();
      const base = { base: commit, signal };
      if (this.#deps.preparation) {
        const prepared = await this.#step('prepare', 'prepare the checkout', async () => {
          const made = await this.#deps.preparation!.checkout(checkout, base);
          return made.kind === 'ready'
            ? { result: 'passed', note: 'prepared' }
            : { result: signal.aborted ? 'stopped' : 'failed', note: withoutSecrets(made.text).slice(0, 500) };
        });
        if (prepared.result !== 'passed') return `the checkout could not be prepared: ${await this.#reason(prepared)}`;
      }
      const workflow = this.#deliverer.workflowOf(this.environment);
      const commands = this.#deliverer.commands(this.environment, kind);
      if (workflow !== null && commands.length === 0) {
        const end = await this.#step('workflow', workflow, () => this.#deliverer.dispatch(context, signal));
        return end.result === 'passed' ? null : `workflow ${workflow}: ${await this.#reason(end)}`;
      }
      for (const command of commands) {
        const name = withoutSecrets(command).slice(0, 500);
        const end = await this.#step(kind, name, () => this.#deliverer.run(context, command, signal));
        if (end.result !== 'passed') return `\`${name}\`: ${await this.#reason(end)}`;
      }
      return null;
    });
  }

  async #checkOnce(
    delivery: Delivery,
    kind: 'health' | 'rollback_health',
    commit: string,
    isRollback: boolean,
  ): Promise<StepEnd> {
    const name = this.#deliverer.healthOf(this.environment);
    if (name === null) return { result: 'passed', note: 'no health check is configured' };
    return this.#onCheckout(delivery, commit, isRollback, (context) =>
      this.#step(kind, name, () => this.#deliverer.check(context, this.#signal())),
    );
  }

  async #onCheckout<T>(
    delivery: Delivery,
    commit: string,
    isRollback: boolean,
    work: (context: DeliveryContext, checkout: CleanCheckout) => Promise<T>,
  ): Promise<T> {
    const checkout = await this.#deps.workspace.checkOut(commit);
    try {
      const { id: deliveryId, environment, number, previous } = delivery;
      const context = { deliveryId, environment, ref: deliveryRef(number), commit, isRollback, path: checkout.path };
      return await work({ ...context, previous: previous?.commit ?? null }, checkout);
    } finally {
      await checkout.close();
    }
  }

  /** Something unexpected happened: what the environment has is unknown, so a person is asked. */
  async giveUp(error: unknown): Promise<void> {
    const delivery = await this.#row();
    if (delivery.owner !== this.#deps.owner || delivery.endedAt !== null) return;
    if (delivery.steps.at(-1)?.result === 'running')
      await this.#write('delivery.step_end', { result: 'failed', note: 'it could not be carried out' });
    const why = withoutSecrets(error instanceof Error ? error.message : String(error)).slice(0, 500);
    const help = `The output: tidemill deliver log ${deliveryRef(delivery.number)}`;
    const to = delivery.status === 'rolling_back' ? 'rollback_failed' : 'asking';
    await this.#write('delivery.move', { to, why, help });
  }

  /** The intention first, so that a crash leaves the mark of what was running. */
  async #step(kind: DeliveryStepKind, name: string, work: () => Promise<StepEnd>): Promise<StepEnd> {
    await this.#write('delivery.step_begin', { kind, name });
    const end = await work().catch((error: unknown): StepEnd => {
      if (!(error instanceof AppError) && !this.#down.aborted) throw error;
      return { result: 'failed', note: withoutSecrets((error as Error).message).slice(0, 500) };
    });
    if (this.#down.aborted) throw new ShuttingDown();
    await this.#write('delivery.step_end', end);
    return end;
  }

  #rules({ environment }: Delivery) {
    return this.#deps.project.rules.delivery?.find(({ name }) => name === environment);
  }

  #signal(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, this.#down]);
  }

  async #reason({ result, note }: StepEnd): Promise<string> {
    const { stop } = await this.#row();
    return result === 'stopped' && stop ? `stopped by ${stop.by.name}` : note;
  }

  #ask(delivery: Delivery, why: string): Promise<void> {
    return this.#write('delivery.move', { to: 'asking', why, help: this.#help(delivery) });
  }

  #rollbackFailed(delivery: Delivery, failed: string, why: string): Promise<void> {
    const help = this.#help(delivery);
    return this.#write('delivery.move', {
      to: 'rollback_failed',
      why: `${failed} (it rolled back because: ${why})`,
      help,
    });
  }

  /** What a person can run, exactly. */
  #help({ number, previous, commit }: Delivery): string {
    const back = previous?.commit ?? commit;
    const commands = this.#deliverer.commands(this.environment, 'rollback').map((each) => `  ${withoutSecrets(each)}`);
    return [
      `In a checkout of ${back} (git worktree add --detach ../rollback ${back.slice(0, 12)}):`,
      ...commands,
      `The output: tidemill deliver log ${deliveryRef(number)}`,
    ].join('\n');
  }

  #end(status: 'healthy' | 'failed' | 'rolled_back', why: string): Promise<void> {
    return this.#write('delivery.end', { status, why });
  }

  #about() {
    return { projectId: this.#projectId, deliveryId: this.id, environment: this.environment, owner: this.#deps.owner };
  }

  async #row(): Promise<Delivery> {
    return (await this.#deps.store.record('delivery', this.id))!;
  }

  /** A refusal means that another process has taken it: this one must not go on. */
  async #write<T extends OwnCommand>(type: T, more: Written<T>): Promise<void> {
    const command = { type, ...this.#about(), ...more } as unknown as CommandOf<T>;
    const reply = await this.#deps.store.execute(command);
    if (!reply.ok) throw new AppError(reply.refusal.code, `${type} was refused: ${reply.refusal.message}`);
  }
}
