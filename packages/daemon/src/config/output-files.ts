import { appendFile, lstat, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock, OutputFile, OutputFiles, OutputKind } from '../ports.ts';
import type { DataFolder } from './data-folder.ts';

const ENDING = '.log';
/** What was removed from a folder, a line per removal. */
const RECORD = 'removed.jsonl';
/** A file that was written within this time may still be in use. */
const IN_USE_MS = 60 * 60_000;
/** Files that are looked at together. */
const AT_ONCE = 64;

const Removed = z.object({ at: z.number(), why: z.enum(['age', 'size']), ids: z.array(z.string()) });
type Removed = z.infer<typeof Removed>;

export function createOutputFiles(folder: Pick<DataFolder, OutputKind>, clock: Clock): OutputFiles {
  const fileOf = (kind: OutputKind, id: string) => join(folder[kind], `${id}${ENDING}`);
  return {
    async list(kind) {
      const names = (await readdir(folder[kind])).filter((name) => name.endsWith(ENDING) && !name.startsWith('.'));
      const found: OutputFile[] = [];
      for (let at = 0; at < names.length; at += AT_ONCE) {
        const some = names.slice(at, at + AT_ONCE).map((name) => name.slice(0, -ENDING.length));
        const looks = await Promise.all(some.map(async (id) => ({ id, ...(await lookAt(fileOf(kind, id))) })));
        for (const { id, bytes, at: written } of looks)
          if (bytes !== undefined) found.push({ id, bytes, at: written! });
      }
      return found;
    },
    async remove(kind, files, why) {
      if (files.length === 0) return [];
      const now = clock.now();
      // First the record: a file without one would look lost.
      const line: Removed = { at: now, why, ids: files.map(({ id }) => id) };
      await appendFile(join(folder[kind], RECORD), `${JSON.stringify(line)}\n`, { mode: 0o600 });
      const gone: OutputFile[] = [];
      for (const file of files) if (await removeUnused(fileOf(kind, file.id), now)) gone.push(file);
      return gone;
    },
    async removal(kind, id) {
      // It was written again afterwards.
      if ((await lookAt(fileOf(kind, id))) !== null) return null;
      const removed = await recordIn(join(folder[kind], RECORD));
      const last = removed.findLast(({ ids }) => ids.includes(id));
      return last ? { at: last.at, why: last.why } : null;
    },
  };
}

async function lookAt(file: string): Promise<{ bytes: number; at: number } | null> {
  try {
    const found = await lstat(file);
    return found.isFile() ? { bytes: found.size, at: found.mtimeMs } : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * A gate may write the same output again at this moment. The file is moved aside before it is looked at, so that only
 * what was looked at is removed.
 */
async function removeUnused(file: string, now: number): Promise<boolean> {
  const aside = `${file}.removing`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const found = await lookAt(aside);
  if (found && found.at > now - IN_USE_MS) {
    await rename(aside, file);
    return false;
  }
  await rm(aside, { force: true });
  return true;
}

async function recordIn(file: string): Promise<Removed[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const removed = Removed.safeParse(parsed(line));
    return removed.success ? [removed.data] : [];
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // A line that a crash cut short: its files were not removed yet.
    return null;
  }
}
