import type { Deliverer, DeliveryContext, StepEnd } from '../../packages/daemon/src/ports.ts';

type Script = (context: DeliveryContext, what: string) => StepEnd | 'hang';
const passed: StepEnd = { result: 'passed', note: 'exit code 0' };

/** Environments in memory: what ran, and what each command does. A step that hangs ends with its signal. */
export class ScriptedDeliverer implements Deliverer {
  /** `staging deploy c1`, in order. */
  readonly ran: string[] = [];
  script: Script = () => passed;
  hasHealth = true;
  rollbackCommands: string[] = [];
  blocked: string | null = null;
  workflow: string | null = null;

  commands(_environment: string, kind: 'run' | 'rollback'): string[] {
    if (this.workflow !== null) return [];
    return kind === 'rollback' && this.rollbackCommands.length > 0 ? this.rollbackCommands : ['build', 'deploy'];
  }
  healthOf(): string | null {
    return this.hasHealth ? 'health' : null;
  }
  workflowOf(): string | null {
    return this.workflow;
  }
  obstacle(): string | null {
    return this.blocked;
  }
  run(context: DeliveryContext, command: string, signal: AbortSignal): Promise<StepEnd> {
    return this.#do(context, command, signal);
  }
  dispatch(context: DeliveryContext, signal: AbortSignal): Promise<StepEnd> {
    return this.#do(context, `workflow ${context.attempt}`, signal);
  }
  check(context: DeliveryContext, signal: AbortSignal): Promise<StepEnd> {
    return this.#do(context, context.isRollback ? 'health after rollback' : 'health', signal);
  }

  async #do(context: DeliveryContext, what: string, signal: AbortSignal): Promise<StepEnd> {
    this.ran.push(`${context.environment} ${what} ${context.commit}`);
    const end = this.script(context, what);
    if (end !== 'hang') return end;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return { result: 'stopped', note: 'it was stopped' };
  }
}
