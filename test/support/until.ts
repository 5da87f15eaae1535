import { setTimeout as delay } from 'node:timers/promises';

/** Polls until it is true, for things without notifications: files, processes, another program's reply. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await delay(30);
}
