import { assetDir } from '../assets.ts';
import type { Guards } from '../ports.ts';
import { GuardSet, type IsProven } from './guard-set.ts';
import { loadGuards } from './load.ts';

interface GuardsOptions {
  root: string;
  dataDir: string;
  isProven?: IsProven;
}

/** The built-in guards and the project's own. Throws an error with the line when a file of the project is invalid. */
export async function createGuards({ root, dataDir, isProven }: GuardsOptions): Promise<Guards> {
  return new GuardSet(await loadGuards({ root, builtinDir: assetDir('prompts/guards') }), dataDir, isProven);
}
