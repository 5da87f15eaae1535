import { totalmem } from 'node:os';
import type { UseLimits } from '@tidemill/contract';
import { eachProcess, hasProcessTable, type ProcessRow, processFile, processRow } from './process-table.ts';

// One look at the process table serves all running children. In a sandbox nothing leaves the tree of its first process:
// who loses its parent belongs to that process. Without one, the group is looked at as well.

const EVERY_MS = 250;
/** Less than the kernel keeps for itself and the daemon: beyond it the machine would begin to end processes by itself. */
const SHARE_OF_MEMORY = 0.8;
const DEFAULT_PROCESSES = 4000;

interface Watched {
  limits: { memory: number; processes: number };
  onOver(message: string): void;
}

class UseWatch {
  readonly #watched = new Map<number, Watched>();
  #timer: NodeJS.Timeout | null = null;

  add(leader: number, limits: UseLimits | undefined, onOver: (message: string) => void): () => void {
    if (!hasProcessTable) return () => undefined;
    const memory = limits?.memory ?? memoryOfMachine() * SHARE_OF_MEMORY;
    this.#watched.set(leader, { limits: { memory, processes: limits?.processes ?? DEFAULT_PROCESSES }, onOver });
    this.#wait();
    return () => void this.#watched.delete(leader);
  }

  #wait(): void {
    if (this.#timer || this.#watched.size === 0) return;
    this.#timer = setTimeout(() => {
      void this.#look().finally(() => {
        this.#timer = null;
        this.#wait();
      });
    }, EVERY_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const rows: ProcessRow[] = [];
    await eachProcess((pid) => {
      const row = processRow(pid);
      if (row && !row.isZombie) rows.push(row);
    });
    const children = Map.groupBy(rows, ({ parent }) => parent);
    const groups = Map.groupBy(rows, ({ group }) => group);
    for (const [leader, { limits, onOver }] of [...this.#watched]) {
      const all = membersOf(leader, children, groups);
      const message = excess(all, limits);
      if (message === null || !this.#watched.delete(leader)) continue;
      onOver(message);
    }
  }
}

const watch = new UseWatch();

/**
 * Calls back once when a child and all that it started use more than they may. Returns a function that ends the watch.
 * Systems without /proc have no limits.
 */
export const watchUse = (
  leader: number,
  limits: UseLimits | undefined,
  onOver: (message: string) => void,
): (() => void) => watch.add(leader, limits, onOver);

function memoryOfMachine(): number {
  const held = process.constrainedMemory();
  return held > 0 ? Math.min(held, totalmem()) : totalmem();
}

function membersOf(
  leader: number,
  children: Map<number, ProcessRow[]>,
  groups: Map<number, ProcessRow[]>,
): Set<number> {
  const all = new Set<number>([leader, ...(groups.get(leader) ?? []).map(({ pid }) => pid)]);
  // A set visits what is added meanwhile.
  for (const pid of all) for (const child of children.get(pid) ?? []) all.add(child.pid);
  return all;
}

function excess(all: Set<number>, limits: Watched['limits']): string | null {
  const raise = (name: string) => `if it needs more, raise limits.${name} in .tidemill/config.yaml`;
  if (all.size > limits.processes)
    return `ran more than ${limits.processes.toLocaleString('en-US')} processes at once; ${raise('processes')}`;
  // The quick sum counts a page once for each process that has it. Only what exceeds the limit is counted exactly.
  if (sum(all, residentBytes) <= limits.memory || sum(all, ownBytes) <= limits.memory) return null;
  return `used more than ${size(limits.memory)} of memory; ${raise('memory')}`;
}

function sum(all: Set<number>, bytesOf: (pid: number) => number): number {
  let total = 0;
  for (const pid of all) total += bytesOf(pid);
  return total;
}

/** Memory that is not a file's: only that cannot be taken back. */
const residentBytes = (pid: number) => kilobytes(processFile(pid, 'status'), /^Rss(?:Anon|Shmem):\s+(\d+) kB/gm);

/** The same, a shared page divided among those who share it. */
function ownBytes(pid: number): number {
  const rollup = processFile(pid, 'smaps_rollup');
  return rollup === null ? residentBytes(pid) : kilobytes(rollup, /^Pss_(?:Anon|Shmem):\s+(\d+) kB/gm);
}

const kilobytes = (text: Buffer | null, pattern: RegExp): number =>
  [...(text?.toString('latin1') ?? '').matchAll(pattern)].reduce((total, [, kb]) => total + Number(kb) * 1024, 0);

function size(bytes: number): string {
  const isLarge = bytes >= 2 ** 30;
  return `${Math.round((bytes / (isLarge ? 2 ** 30 : 2 ** 20)) * 10) / 10} ${isLarge ? 'GB' : 'MB'}`;
}
