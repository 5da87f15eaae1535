import { AppError, type Finding } from '@tidemill/contract';
import { absenceOf } from '../agents/presence.ts';
import { loadSettings } from '../config/load.ts';
import { inspectRepository } from '../git/repository.ts';
import { sayWhatChecks, sayWhoIsMissing } from '../handlers/daemon/doctor.ts';

/**
 * A repository that the store does not know yet, which `doctor` is called in: whether work could begin. Empty outside a
 * repository.
 */
export async function examineRepository(folder: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const say = (level: Finding['level'], check: string, text: string, hint = '') =>
    findings.push({ level, check, text, hint });
  try {
    const { root } = await inspectRepository(folder);
    const { config, warnings } = await loadSettings(root);
    for (const warning of warnings) say('warning', 'config', `${root}: ${warning}`);
    sayWhatChecks(root, config, warnings.length > 0, say);
    await sayWhoIsMissing(absenceOf, { name: root, root }, config, say);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, hint } = error;
    if (code !== 'not_a_repository') say('problem', code === 'no_commits' ? 'git' : 'config', message, hint);
  }
  return findings;
}
