import { assetDir } from '../assets.ts';
import { CONFIG_FILE } from '../config/check.ts';
import { ignoredConfig } from '../config/ignored.ts';
import { loadSettings } from '../config/load.ts';
import { securityWarning } from '../config/protection.ts';
import { traitWarnings } from '../config/repository-traits.ts';
import { categoryFaults } from '../prompts/categories.ts';
import { templateFaults } from '../prompts/template-files.ts';
import { type Owner, otherOwner } from './repository-owner.ts';

/** What `init`, `up` and `doctor` report about the surroundings of a project, which its config does not show. */
export async function setupWarnings(root: string, own: Owner): Promise<string[]> {
  return [...(await setupMistakes(root, own)), ...(await withoutSecurity(root))];
}

/** Those of the warnings that are worth an alert while the daemon runs. */
export async function setupMistakes(root: string, own: Owner): Promise<string[]> {
  const found = await Promise.all([
    ignoredConfig(root),
    templateFaults(root),
    categoryFaults({ root, builtinDir: assetDir('prompts/categories') }),
    otherOwner(root, own).then((refusal) => (refusal ? [`${refusal.message}. ${refusal.hint}`] : [])),
    traitWarnings(root),
  ]);
  return found.flat();
}

async function withoutSecurity(root: string): Promise<string[]> {
  const { config } = await loadSettings(root);
  const warning = securityWarning(config.gates, CONFIG_FILE);
  return warning === null ? [] : [warning];
}
