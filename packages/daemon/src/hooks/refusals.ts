import { HookRefusal } from '@tidemill/contract';
import type { HookRefusals } from '../ports.ts';
import { refusalFile } from './hook-record.ts';
import { takeLines } from './taken-lines.ts';

/** What hooks refused in a person's own sessions. */
export function createHookRefusals({ root, dataDir }: { root: string; dataDir: string }): HookRefusals {
  return { take: (keep) => takeLines(refusalFile(dataDir, root), HookRefusal, keep) };
}
