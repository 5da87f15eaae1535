import path from 'node:path';
import type { IdeaPhase } from '@tidemill/contract';
import { textOf } from './prompts.ts';

const PHASE_FOLDER = '.tidemill/phases';

/** The instructions of a phase: the project's own file, or the built-in one. Read again for each reply. */
export async function readPhase(phase: IdeaPhase, root: string, builtinDir: string): Promise<string> {
  const name = `${phase.toLowerCase()}.md`;
  return (await textOf(path.join(root, PHASE_FOLDER, name))) ?? (await textOf(path.join(builtinDir, name))) ?? '';
}
