import type { Actor, Worker } from '@tidemill/contract';
import type { OutsideWork } from './workers/outside.ts';

export interface EmergencyOrder {
  by: Actor;
  reason: string;
}

/** What an emergency stop hit: names of workers, numbers of tasks they were at. */
export interface EmergencyReport {
  workers: string[];
  tasks: number[];
}

/** What can be asked of a project's engine, whether one runs in this process or not. */
export interface ProjectWork {
  readonly isRunning: boolean;
  /** None of the project's agents can go on before a person has helped (a login, credit). */
  readonly isWaitingForPerson: boolean;
  /** What a person should know about the settings that the engine follows. */
  readonly warnings: string[];
  /** Gives work to workers outside the daemon. */
  readonly outside: Pick<OutsideWork, 'claim' | 'release' | 'finish'>;
  /** Adds a worker that builds, and returns its name. */
  addWorker(): Promise<string>;
  removeWorker(worker: Worker): Promise<void>;
  emergencyStop(order: EmergencyOrder): Promise<EmergencyReport>;
}
