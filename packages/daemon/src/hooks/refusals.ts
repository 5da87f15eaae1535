import { readFile, rename, rm } from 'node:fs/promises';
import { HookRefusal } from '@tidemill/contract';
import type { HookRefusals } from '../ports.ts';
import { refusalFile } from './hook-record.ts';

/**
 *   hook ──appends──▶ refused.jsonl ──rename──▶ refused.jsonl.taken ──read──▶ traces
 * A hook that had the file open while it was renamed writes to the taken one. So that is read again at the next take,
 * and removed only then.
 */
export function createHookRefusals({ root, dataDir }: { root: string; dataDir: string }): HookRefusals {
  const file = refusalFile(dataDir, root);
  const taken = `${file}.taken`;
  const hand = async (keep: (refusals: HookRefusal[]) => Promise<void>) => {
    const refusals = readable(await textOf(taken));
    if (refusals.length > 0) await keep(refusals);
  };
  return {
    async take(keep) {
      await hand(keep);
      await rm(taken, { force: true });
      if (await isRenamed(file, taken)) await hand(keep);
    },
  };
}

/** A line that was cut short, or that something else wrote, is not a refusal. */
function readable(text: string): HookRefusal[] {
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      const read = HookRefusal.safeParse(JSON.parse(line));
      return read.success ? [read.data] : [];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}

async function isRenamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
