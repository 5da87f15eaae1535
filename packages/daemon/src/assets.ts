import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';

// Files that ship with the program. In a checkout they lie at the repository's root (prompts) or beside this module
// (demo/sample); in an installed package, where all of src is one bundle, beside that. The root must not be looked at
// there: it would be the user's own project.
const HERE = import.meta.dirname;
const IS_BUNDLE = import.meta.filename.endsWith('.js');
const PLACES = IS_BUNDLE ? [HERE] : [join(HERE, '..', '..', '..'), HERE];

/** The folder of a shipped asset: `prompts`, `demo/sample`. */
export function assetDir(name: string): string {
  const found = PLACES.map((place) => join(place, name)).find((folder) => existsSync(folder));
  if (found) return found;
  throw new AppError('internal', `the folder "${name}" that ships with Tidemill is missing`, {
    hint: 'the installation is incomplete: install tidemill again',
  });
}

/** The folder of the built page; null where it was not built. */
export function pageDir(): string | null {
  const folder = IS_BUNDLE ? join(HERE, 'web') : join(HERE, '..', '..', 'web', 'dist');
  return existsSync(join(folder, 'index.html')) ? folder : null;
}
