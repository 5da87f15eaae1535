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
/** All that the bundle is made from. */
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
/** Another run in this checkout may still use one that was made from older sources. */
const KEPT_MS = 3_600_000;

/** Another name after each change of the sources. */
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
 * The launcher of the program as it is installed: bundled, so that it starts in a third of the time that the sources
 * take. Made once for the sources as they are; many hundred starts in a test run use it.
 */
export async function installedLauncher(): Promise<string> {
  const folder = join(FOLDER, fingerprint());
  if (!existsSync(folder)) {
    mkdirSync(FOLDER, { recursive: true });
    removeOld();
    // Made aside and moved: two runs may be at it, and one may be killed half-way.
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
