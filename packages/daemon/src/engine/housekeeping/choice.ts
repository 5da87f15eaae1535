import type { HousekeepingConfig } from '@tidemill/contract';
import type { OutputFile } from '../../ports.ts';

const DAY_MS = 24 * 60 * 60_000;
const MEGABYTE = 1_000_000;

/** Things from before this time may go. */
export const expiry = (days: HousekeepingConfig['snapshots']['days'], now: number): number =>
  days === 'never' ? Number.NEGATIVE_INFINITY : now - days * DAY_MS;

export const mostBytes = (megabytes: HousekeepingConfig['runLogs']['megabytes']): number =>
  megabytes === 'unlimited' ? Number.POSITIVE_INFINITY : megabytes * MEGABYTE;

/** What a file belongs to. */
export interface FileOwner {
  /** Null: no row of the store names it. */
  projectId: string | null;
  /** When the last task that needs it ended; null while one is not finished. */
  endedAt: number | null;
  /** A landed commit names it as evidence. */
  isLanded: boolean;
}

export interface FileLimits {
  /** Files of tasks that ended before then may go. */
  expiry: number;
  landedExpiry: number;
  /** The total of a project's files. Those of landed commits do not count and do not go. */
  mostBytes: number;
}

export interface ChosenFiles {
  aged: OutputFile[];
  oversized: OutputFile[];
}

/** The files that may be removed. A file without a known owner, or whose project has no limits here, stays. */
export function chooseFiles(
  files: readonly OutputFile[],
  ownerOf: (id: string) => FileOwner | undefined,
  limitsOf: (projectId: string | null) => FileLimits | undefined,
): ChosenFiles {
  const chosen: ChosenFiles = { aged: [], oversized: [] };
  const totals = new Map<string | null, number>();
  const rest: { file: OutputFile; owner: FileOwner; limits: FileLimits }[] = [];
  for (const file of [...files].sort((a, b) => a.at - b.at)) {
    const owner = ownerOf(file.id);
    const limits = owner && limitsOf(owner.projectId);
    if (!owner || !limits) continue;
    const before = owner.isLanded ? limits.landedExpiry : limits.expiry;
    if (owner.endedAt !== null && owner.endedAt < before && file.at < before) chosen.aged.push(file);
    else if (!owner.isLanded) {
      rest.push({ file, owner, limits });
      totals.set(owner.projectId, (totals.get(owner.projectId) ?? 0) + file.bytes);
    }
  }
  for (const { file, owner, limits } of rest) {
    const total = totals.get(owner.projectId) ?? 0;
    if (owner.endedAt === null || total <= limits.mostBytes) continue;
    chosen.oversized.push(file);
    totals.set(owner.projectId, total - file.bytes);
  }
  return chosen;
}

/** Whether the owners of a file must be looked up: most passes find nothing to remove, at the cost of a list. */
export function candidates(files: readonly OutputFile[], limits: readonly FileLimits[]): readonly OutputFile[] {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (limits.some(({ mostBytes: most }) => total > most)) return files;
  const latest = Math.max(...limits.map((each) => Math.max(each.expiry, each.landedExpiry)));
  return files.filter(({ at }) => at < latest);
}
