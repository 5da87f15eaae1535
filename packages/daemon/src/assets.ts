import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { assetFolder, IS_BUNDLE } from './asset-folder.ts';

/** The folder of a shipped asset: `prompts`, `demo/sample`. */
export function assetDir(name: string): string {
  const found = assetFolder(name);
  if (found) return found;
  throw new AppError('internal', `the folder "${name}" that ships with Tidemill is missing`, {
    hint: 'the installation is incomplete: install tidemill again',
  });
}

/** The folder of the built page; null where it was not built. */
export function pageDir(): string | null {
  const here = import.meta.dirname;
  const folder = IS_BUNDLE ? join(here, 'web') : join(here, '..', '..', 'web', 'dist');
  return existsSync(join(folder, 'index.html')) ? folder : null;
}
