import { assetDir } from '../assets.ts';
import { ignoredConfig } from '../config/ignored.ts';
import { traitWarnings } from '../config/repository-traits.ts';
import type { Store } from '../ports.ts';
import { categoryFaults } from '../prompts/categories.ts';
import { templateFaults } from '../prompts/template-files.ts';
import { otherFolders } from './working-folders.ts';

/** Mistakes in the surroundings of a project that its config does not show. `init`, `up` and `doctor` report them. */
export async function setupWarnings(
  root: string,
  own: { path: string; isShared: boolean },
  workers?: () => ReturnType<Store['workers']>,
): Promise<string[]> {
  const found = await Promise.all([
    ignoredConfig(root),
    templateFaults(root),
    categoryFaults({ root, builtinDir: assetDir('prompts/categories') }),
    otherFolders(root, own, workers),
    traitWarnings(root),
  ]);
  return found.flat();
}
