import type { AgentConfig } from '@tidemill/contract';
import { findProgram } from '../process/program.ts';
import { presetFor } from './acp/preset.ts';
import { usableClaude } from './claude/program.ts';
import { findCodex } from './codex/program.ts';

/** Why this agent could not be started at all, or null. */
export async function absenceOf(config: AgentConfig, root: string): Promise<string | null> {
  const search = { PATH: process.env.PATH ?? '' };
  const absence = (found: { file: string } | { missing: string }) => ('missing' in found ? found.missing : null);
  switch (config.type) {
    case 'scripted':
      return null;
    case 'command':
      return absence(await findProgram(config.command[0]!, search, root));
    case 'codex':
      return absence(await findCodex(config.program, root));
    case 'claude':
      return absence(await usableClaude(config.program, root));
    case 'acp': {
      const preset = presetFor(config);
      const missing = absence(await findProgram((config.command ?? preset?.command ?? [''])[0]!, search, root));
      return missing && preset ? `${missing}: ${preset.install}` : missing;
    }
  }
}
