import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import { AppError } from '@tidemill/contract';

// Files that ship with the program lie in three places: beside this module in a checkout (src/…), at the repository's
// root in a checkout (prompts), and beside the bundle in an installed package (dist/…), which is one file.
const HERE = import.meta.dirname;
const REPOSITORY = join(HERE, '..', '..', '..');

/** The folder of a shipped asset: `prompts`, `demo/sample`. */
export function assetDir(name: string): string {
  const found = [join(HERE, name), join(REPOSITORY, name)].find((folder) => existsSync(folder));
  if (found) return found;
  throw new AppError('internal', `the folder "${name}" that ships with Tidemill is missing`, {
    hint: 'the installation is incomplete: install tidemill again',
  });
}

/** A module that is started as a process of its own: `agents/scripted-player`, in a checkout .ts, in the package .js. */
export function programFile(name: string): string {
  return join(HERE, name + extname(import.meta.filename));
}
