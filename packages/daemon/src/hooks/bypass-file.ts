import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { rootKey } from '../guards/call-log.ts';
import { isRecord } from './hook-input.ts';

// Loaded before every tool of a person's session: no module here may cost time (zod, yaml, the contract).

/** A person lets one call pass. It is in the data folder, which agents may neither read nor change. */
export const bypassFile = (dataDir: string, root: string, guard: string, taskId?: string) =>
  join(dataDir, 'hooks', `${[rootKey(root), ...(taskId === undefined ? [] : [taskId]), guard].join('.')}.bypass.json`);

/** Takes a bypass of this guard, if there is one. The process that removes the file has it: there is one call per bypass. */
export function takeBypass(
  { dataDir, root }: { dataDir: string; root: string },
  guard: string,
  now: number,
  taskId?: string,
): boolean {
  if (!/^[a-z][a-z0-9-]*$/.test(guard)) return false;
  const file = bypassFile(dataDir, root, guard, taskId);
  try {
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
    rmSync(file);
    return isRecord(kept) && typeof kept.until === 'number' && now <= kept.until;
  } catch {
    return false; // no bypass, or another call took it
  }
}
