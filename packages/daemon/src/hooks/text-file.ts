import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '@tidemill/contract';

/** The file's text; null when there is none. */
export function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new AppError('bad_config', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Make the file readable, or remove it.',
      cause,
    });
  }
}

/** Where a link leads. */
export const realPath = (file: string) => (existsSync(file) ? realpathSync(file) : file);

/** Writes atomically, through a temporary file in the same folder. Keeps a link and the file's mode. */
export function replaceFile(file: string, text: string, mode: number): void {
  const target = realPath(file);
  mkdirSync(dirname(target), { recursive: true });
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: statSync(target, { throwIfNoEntry: false })?.mode ?? mode, flag: 'wx' });
    renameSync(temporary, target);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new AppError('bad_config', `${file} could not be written: ${(cause as Error).message}`, {
      hint: 'Nothing was changed. Make the folder writable.',
      cause,
    });
  }
}
