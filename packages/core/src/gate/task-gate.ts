import type { Task } from '@tidemill/contract';

/** A gate of one task: the command that its approved specification names. */
export interface TaskGate {
  name: string;
  run: string;
}

/** No configured gate can have this name, so a receipt says whose command it was. */
const nameFor = (number: number) => `validate #${number}`;

/** Ten minutes, as a gate of level `thorough`. */
export const TASK_GATE_MS = 600_000;

export const taskGates = ({ number, validate }: Pick<Task, 'number' | 'validate'>): TaskGate[] =>
  validate === '' ? [] : [{ name: nameFor(number), run: validate }];
