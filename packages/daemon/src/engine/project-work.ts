import type { Actor, Worker } from '@tidemill/contract';
import type { RunningStep } from '../ports.ts';
import type { HeldStarts } from './dispatch/held-starts.ts';
import type { TrackerWork } from './tracker/tracker-work.ts';
import type { OutsideWork } from './workers/outside.ts';

export interface EmergencyOrder {
  by: Actor;
  reason: string;
}

/** The names of stopped workers and the numbers of their tasks. */
export interface EmergencyReport {
  workers: string[];
  tasks: number[];
}

/** The interface of a project's engine, whether it runs in this process or not. */
export interface ProjectWork {
  readonly isRunning: boolean;
  /** Every agent of the project needs help from a person (a login, credit). */
  readonly isWaitingForPerson: boolean;
  /** Landed work could not be pushed at once and is tried again soon. */
  readonly isPushing: boolean;
  /** Landed work is being delivered, or about to be. */
  readonly isDelivering: boolean;
  /** What keeps tasks from starting. */
  holds(): Promise<HeldStarts>;
  /** The `prepare` steps that run now. */
  readonly preparing: readonly RunningStep[];
  /** Whether its reactors have handled the log. */
  hasCaughtUp(): Promise<boolean>;
  /** Problems in the current settings. */
  readonly warnings: string[];
  /** Serves workers outside the daemon. */
  readonly outside: Pick<OutsideWork, 'claim' | 'release' | 'finish'>;
  readonly tracker: TrackerWork;
  /** Asks the tracker and the forge for news now. */
  lookOutside(): void;
  /** Adds a builder and returns its name. */
  addWorker(): Promise<string>;
  removeWorker(worker: Worker): Promise<void>;
  emergencyStop(order: EmergencyOrder): Promise<EmergencyReport>;
}
