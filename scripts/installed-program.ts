import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { bundleProgram } from './program-bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'node_modules', '.cache', 'tidemill-program');
/** Everything that the bundle is built from. */
const SOURCES = [
  'packages/contract/src',
  'packages/core/src',
  'packages/daemon/src',
  'packages/daemon/bin',
  'packages/web/dist',
  'prompts',
  'scripts/program-bundle.ts',
  'package-lock.json',
];
/** Another run in this checkout may still use a bundle of older sources. */
const KEPT_MS = 3_600_000;

/** A new name after each change of the sources. */
function fingerprint(): string {
  const hash = createHash('sha256');
  const add = (path: string) => {
    const stat = statSync(join(ROOT, path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) for (const name of readdirSync(join(ROOT, path)).sort()) add(`${path}/${name}`);
    else hash.update(`${path} ${stat?.size} ${stat?.mtimeMs}\n`);
  };
  for (const source of SOURCES) add(source);
  return hash.digest('hex').slice(0, 16);
}

/**
 * The launcher of the installed program. It is bundled, so it starts in a third of the time that the sources need. It is
 * built once per state of the sources; a test run starts it many hundred times.
 */
export async function installedLauncher(): Promise<string> {
  const folder = join(FOLDER, fingerprint());
  if (!existsSync(folder)) {
    mkdirSync(FOLDER, { recursive: true });
    removeOld();
    // Built in another place and moved: two runs may build at the same time, and one may be killed.
    const aside = mkdtempSync(`${folder}-`);
    await bundleProgram(join(aside, 'dist'));
    for (const name of ['bin', 'package.json'])
      cpSync(join(ROOT, 'packages', 'daemon', name), join(aside, name), { recursive: true });
    try {
      renameSync(aside, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
      rmSync(aside, { recursive: true, force: true });
    }
  }
  utimesSync(folder, new Date(), new Date());
  return join(folder, 'bin', 'tidemill.mjs');
}

function removeOld(): void {
  for (const name of readdirSync(FOLDER)) {
    const path = join(FOLDER, name);
    if (statSync(path).mtimeMs < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
