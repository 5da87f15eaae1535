import type { DeliveryStep } from '@tidemill/contract';

/** What a command or a check of a delivery is about. */
export interface DeliveryContext {
  deliveryId: string;
  /** Shown as D3. */
  ref: string;
  environment: string;
  /** What is or will be live. In a rollback it is the earlier commit. */
  commit: string;
  /** What was healthy before. */
  previous: string | null;
  isRollback: boolean;
  /** Workflows of this delivery that have ended. One that was cut short has the same number again. */
  attempt: number;
  /** An earlier process may have started the workflow already. */
  isResumed: boolean;
  /** The daemon ends. What runs elsewhere goes on, and the next daemon follows it. */
  down: AbortSignal;
  /** A clean checkout of the commit. */
  path: string;
}

export interface StepEnd {
  result: Exclude<DeliveryStep['result'], 'running' | 'interrupted'>;
  /** One line about it, without secrets. */
  note: string;
}

/** Carries out the settings of the project's environments. Output goes to the log of the delivery, without secrets. */
export interface Deliverer {
  /** The commands of an environment, as the settings have them; for a rollback those that put an earlier commit back. */
  commands(environment: string, kind: 'run' | 'rollback'): string[];
  /** The health check in words; null when there is none. */
  healthOf(environment: string): string | null;
  /** The workflow that is started in place of commands; null when there is none. */
  workflowOf(environment: string): string | null;
  /** Returns why nothing can be run now, such as a variable that is not set; null when it can. */
  obstacle(environment: string): string | null;
  /** Runs one command to its end, or until the signal: then the whole process group is ended. */
  run(context: DeliveryContext, command: string, signal: AbortSignal): Promise<StepEnd>;
  /** Starts the workflow, unless an earlier process has, and waits for its end. */
  dispatch(context: DeliveryContext, signal: AbortSignal): Promise<StepEnd>;
  /** Tries the health check until it passes or its tries are used up. */
  check(context: DeliveryContext, signal: AbortSignal): Promise<StepEnd>;
}

/** Workflows of a code host. */
export interface Workflows {
  /**
   * Starts the workflow for the commit unless one with this marker was started, and waits for its end. `signal` cancels it;
   * `down` only ends the waiting.
   */
  run(
    request: { workflow: string; environment: string; commit: string; marker: string; isResumed: boolean },
    ends: { signal: AbortSignal; down: AbortSignal },
    onNote: (line: string) => void,
  ): Promise<StepEnd>;
}
