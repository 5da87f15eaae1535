import { existsSync } from 'node:fs';
import { join } from 'node:path';

// Files that ship with the program. In a checkout they lie at the repository's root (prompts) or beside this module
// (demo/sample); in an installed package, where all of src is one bundle, beside that. The root must not be looked at
// there: it would be the user's own project. Apart from assets.ts so that a hook, which must start in no time, can load
// it alone.
const HERE = import.meta.dirname;
export const IS_BUNDLE = import.meta.filename.endsWith('.js');
const PLACES = IS_BUNDLE ? [HERE] : [join(HERE, '..', '..', '..'), HERE];

/** The folder of a shipped asset: `prompts`, `demo/sample`; null when it is missing. */
export function assetFolder(name: string): string | null {
  return PLACES.map((place) => join(place, name)).find((folder) => existsSync(folder)) ?? null;
}
