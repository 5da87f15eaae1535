import type { RecordNoun, RecordOf, Task } from '@tidemill/contract';
import type { Mill } from './mill.ts';

/** A generator's input: the world, one of its tasks, a leased task, and two numbers. */
export interface Draw {
  mill: Mill;
  /** Some task; the world has at least two. */
  task: Task;
  /** A leased task, else the same as `task`; its fence may be old. */
  leased: Task;
  fence: { projectId: string; subjectId: string; jobId?: string; token: number };
  workerId: string;
  a: number;
  b: number;
}

export const projectId = 'project_1';
export const at = <T>(items: readonly T[], index: number): T => items[index % items.length]!;
/** A record of the noun, or an unknown id. */
export function recordOf<N extends RecordNoun>(mill: Mill, noun: N, index: number): RecordOf<N> | undefined {
  const all = [...mill.records.values()].filter((record): record is RecordOf<N> => record.noun === noun);
  return all.length > 0 ? at(all, index) : undefined;
}
export const idOf = (mill: Mill, noun: RecordNoun, index: number) => recordOf(mill, noun, index)?.id ?? `${noun}_0`;
