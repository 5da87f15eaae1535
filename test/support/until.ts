import { setTimeout as delay } from 'node:timers/promises';

/** Looks again until it is so, where nothing tells of it: files, processes, another program's answer. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await delay(30);
}
