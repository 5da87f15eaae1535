import { readFile, rename, rm } from 'node:fs/promises';
import type { z } from 'zod';

/**
 * Takes over the lines that hooks have appended to a file.
 *
 *   hook ──appends──▶ NAME.jsonl ──rename──▶ NAME.jsonl.taken ──read──▶ keep
 * A hook that had the file open while it was renamed writes to the taken one. So that is read again at the next take,
 * and removed only then. After a crash, lines are handed over twice.
 */
export async function takeLines<S extends z.ZodType>(
  file: string,
  schema: S,
  keep: (lines: z.output<S>[]) => Promise<void>,
): Promise<void> {
  const taken = `${file}.taken`;
  const hand = async () => {
    const lines = readable(await textOf(taken), schema);
    if (lines.length > 0) await keep(lines);
  };
  await hand();
  await rm(taken, { force: true });
  if (await isRenamed(file, taken)) await hand();
}

/** A line that was cut short, or that something else wrote, is left out. */
function readable<S extends z.ZodType>(text: string, schema: S): z.output<S>[] {
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      const read = schema.safeParse(JSON.parse(line));
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
