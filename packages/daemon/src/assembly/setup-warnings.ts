import { assetDir } from '../assets.ts';
import { ignoredConfig } from '../config/ignored.ts';
import { traitWarnings } from '../config/repository-traits.ts';
import { categoryFaults } from '../prompts/categories.ts';
import { templateFaults } from '../prompts/template-files.ts';
import { type Owner, otherOwner } from './repository-owner.ts';

/** Mistakes in the surroundings of a project that its config does not show. `init`, `up` and `doctor` report them. */
export async function setupWarnings(root: string, own: Owner): Promise<string[]> {
  const found = await Promise.all([
    ignoredConfig(root),
    templateFaults(root),
    categoryFaults({ root, builtinDir: assetDir('prompts/categories') }),
    otherOwner(root, own).then((refusal) => (refusal ? [`${refusal.message}. ${refusal.hint}`] : [])),
    traitWarnings(root),
  ]);
  return found.flat();
}
