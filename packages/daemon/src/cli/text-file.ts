import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError } from '@tidemill/contract';
import type { CliContext } from './context.ts';

/** More is read by nothing that takes a text. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The text of a file that a person names, from where the command was started. */
export async function textFile(
  { cwd }: Pick<CliContext, 'cwd'>,
  name: string,
  most: { bytes: number; what: string; hint: string } = { bytes: MOST_BYTES, what: 'a text file', hint: '' },
): Promise<string> {
  try {
    await using file = await open(resolve(cwd, name));
    const { size } = await file.stat();
    if (size > most.bytes)
      throw new AppError('bad_input', `${name} has ${size} bytes, too many for ${most.what}`, { hint: most.hint });
    return await file.readFile('utf8');
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('bad_input', `${name} cannot be read: ${why}`, { hint: 'Give the path of a text file.', cause });
  }
}
