import { AppError } from '@tidemill/contract';
import { assetDir } from '../assets.ts';
import { CONFIG_FILE } from '../config/check.ts';
import { ignoredConfig } from '../config/ignored.ts';
import { loadSettings } from '../config/load.ts';
import { securityWarning } from '../config/protection.ts';
import { traitWarnings } from '../config/repository-traits.ts';
import { loadGuards } from '../guards/load.ts';
import { categoryFaults } from '../prompts/categories.ts';
import { templateFaults } from '../prompts/template-files.ts';
import { type Owner, otherOwner } from './repository-owner.ts';

/** What `init`, `up` and `doctor` report about the surroundings of a project, which its config does not show. */
export async function setupWarnings(root: string, own: Owner): Promise<string[]> {
  return [...(await setupMistakes(root, own)), ...(await guardFaults(root)), ...(await withoutSecurity(root))];
}

/** The daemon refuses to start with these, or goes on with the guards of before; the hooks of a person's session refuse every tool. */
async function guardFaults(root: string): Promise<string[]> {
  try {
    await loadGuards({ root, builtinDir: assetDir('prompts/guards') });
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const faults = error.message.split('\n').join('; ');
    return [`${faults}. Until then no tool runs in your own Claude Code sessions that use the guards`];
  }
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
