import { type Delivery, deliveryRef, isChangingStep, withoutSecrets } from '@tidemill/contract';
import { environmentOf } from '@tidemill/core';
import type { Deliverer } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { DeliverySteps, type DeliveryTools, phaseOf, type Way } from './delivery-steps.ts';

/**
 * Carries out one delivery.
 *
 *   begin ──▶ (gates) ──▶ checkout, prepare ──▶ commands ──▶ health check ──▶ healthy
 *                        └── failed, stopped ──┴──▶ rollback: checkout of the earlier commit, commands, check
 */
export class DeliveryRun {
  readonly #deps: EngineDeps;
  readonly #deliverer: Deliverer;
  readonly #steps: DeliverySteps;
  readonly #about: { projectId: string; deliveryId: string; environment: string; owner: string };

  constructor(tools: DeliveryTools, delivery: Delivery) {
    const { deps, deliverer } = tools;
    this.#deps = deps;
    this.#deliverer = deliverer;
    this.#steps = new DeliverySteps(tools, delivery);
    const { id: deliveryId, projectId, environment } = delivery;
    this.#about = { projectId, deliveryId, environment, owner: deps.owner };
  }

  stop(): void {
    this.#steps.stop();
  }

  /** From its beginning. */
  async start(): Promise<void> {
    await this.#steps.write('delivery.begin', {});
    const delivery = await this.#steps.row();
    if (delivery.status === 'running') await this.#deliver(delivery);
  }

  /** After another process, or a person's answer. It never runs blindly again what was cut short. */
  async resume(delivery: Delivery): Promise<void> {
    await this.#steps.write('delivery.take', { from: delivery.owner });
    const taken = await this.#steps.row();
    const hasBegun = phaseOf(taken).some(isChangingStep);
    // A person stopped it, and the process ended before that was carried out.
    if (taken.stop && (taken.status === 'running' || taken.status === 'checking')) {
      this.#steps.stop();
      // A workflow may still run: it is looked for and cancelled first.
      if (!hasBegun || !this.#isWorkflow()) return this.#rollBack(taken, `stopped by ${taken.stop.by.name}`);
    }
    if (taken.status === 'checking') return this.#check(taken);
    if (taken.status === 'rolling_back')
      return hasBegun ? this.#resumeRollback(taken) : this.#rollBack(taken, taken.why);
    if (taken.status !== 'running') return;
    if (!hasBegun) return this.#deliver(taken);
    if (this.#steps.isApplied(taken, wayOf(taken).kind)) return this.#nextCheck();
    const rules = this.#rules();
    // A workflow is found again by its mark, and not started twice.
    if (rules?.repeatable || this.#isWorkflow()) {
      const why = 'it was cut short, and is carried out again';
      await this.#steps.write('delivery.move', { to: 'running', why });
      return this.#deliver(await this.#steps.row());
    }
    const why = 'the daemon ended while its commands ran';
    if (!rules?.hasHealth) return this.#ask(taken, `${why}, and there is no health check`);
    const end = await this.#steps.check(taken, 'health', wayOf(taken));
    if (end.result === 'passed')
      return this.#ask(taken, `${why}; the health check passes, but it may be the old version`);
    return this.#rollBack(taken, `${why}, and ${end.note}`);
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const obstacle = this.#deliverer.obstacle(this.#about.environment);
    if (obstacle !== null) return this.#end('failed', obstacle);
    const unproven = delivery.unproven.length > 0 ? await this.#steps.prove(delivery) : null;
    const failed = unproven ?? (await this.#steps.apply(delivery, wayOf(delivery)));
    return failed === null ? this.#nextCheck() : this.#rollBack(await this.#steps.row(), failed);
  }

  async #nextCheck(): Promise<void> {
    await this.#steps.write('delivery.move', { to: 'checking', why: '' });
    return this.#check(await this.#steps.row());
  }

  async #check(delivery: Delivery): Promise<void> {
    const end = await this.#steps.check(delivery, 'health', wayOf(delivery));
    if (end.result === 'passed') return this.#end('healthy', '');
    return this.#rollBack(await this.#steps.row(), await this.#steps.reason(end));
  }

  /** Back to the last healthy commit. Without one, and without commands for it, there is nothing to go back to. */
  async #rollBack(delivery: Delivery, why: string): Promise<void> {
    if (delivery.status !== 'rolling_back') {
      if (!delivery.steps.some(isChangingStep)) return this.#end('failed', why);
      if (delivery.previous === null && !this.#rules()?.hasRollback)
        return this.#end('failed', `${why}; nothing healthy was there before, so nothing was rolled back`);
      await this.#steps.write('delivery.move', { to: 'rolling_back', why });
    }
    this.#steps.renewStop();
    const failed = await this.#steps.apply(delivery, backOf(delivery));
    if (failed !== null) return this.#rollbackFailed(delivery, failed, why);
    const end = await this.#steps.check(delivery, 'rollback_health', backOf(delivery));
    if (end.result !== 'passed') return this.#rollbackFailed(delivery, await this.#steps.reason(end), why);
    return this.#end('rolled_back', why);
  }

  async #resumeRollback(delivery: Delivery): Promise<void> {
    const rules = this.#rules();
    const { why } = delivery;
    if ((rules?.repeatable || this.#isWorkflow()) && !this.#steps.isApplied(delivery, 'rollback')) {
      await this.#steps.write('delivery.move', { to: 'rolling_back', why });
      return this.#rollBack(await this.#steps.row(), why);
    }
    const cut = 'the daemon ended while the rollback ran';
    if (!rules?.hasHealth) return this.#rollbackFailed(delivery, `${cut}, and there is no health check`, why);
    const end = await this.#steps.check(delivery, 'rollback_health', backOf(delivery));
    if (end.result === 'passed') return this.#end('rolled_back', `${why}; ${cut}, and the check passes`);
    return this.#rollbackFailed(delivery, `${cut}, and ${end.note}`, why);
  }

  /** Something unexpected happened: what the environment has is unknown, so a person is asked. */
  async giveUp(error: unknown): Promise<void> {
    const delivery = await this.#steps.row();
    if (delivery.owner !== this.#about.owner || delivery.endedAt !== null) return;
    if (delivery.steps.at(-1)?.result === 'running')
      await this.#steps.write('delivery.step_end', { result: 'failed', note: 'it could not be carried out' });
    const why = withoutSecrets(error instanceof Error ? error.message : String(error)).slice(0, 500);
    // Nothing has run, so the environment is as it was.
    if (!delivery.steps.some(isChangingStep)) return this.#end('failed', why);
    const help = `The output: tidemill deliver log ${deliveryRef(delivery.number)}`;
    const to = delivery.status === 'rolling_back' ? 'rollback_failed' : 'asking';
    await this.#steps.write('delivery.move', { to, why, help });
  }

  #rules() {
    return environmentOf(this.#deps.project, this.#about.environment);
  }

  #isWorkflow(): boolean {
    return this.#deliverer.workflowOf(this.#about.environment) !== null;
  }

  #ask(delivery: Delivery, why: string): Promise<void> {
    return this.#steps.write('delivery.move', { to: 'asking', why, help: this.#steps.help(delivery) });
  }

  #rollbackFailed(delivery: Delivery, failed: string, why: string): Promise<void> {
    const text = `${failed} (it rolled back because: ${why})`;
    return this.#steps.write('delivery.move', { to: 'rollback_failed', why: text, help: this.#steps.help(delivery) });
  }

  #end(status: 'healthy' | 'failed' | 'rolled_back', why: string): Promise<void> {
    return this.#steps.write('delivery.end', { status, why });
  }
}

const wayOf = ({ commit, cause }: Delivery): Way => ({ commit, kind: cause === 'rollback' ? 'rollback' : 'run' });
const backOf = ({ commit, previous }: Delivery): Way => ({ commit: previous?.commit ?? commit, kind: 'rollback' });
