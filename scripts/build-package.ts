import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleProgram } from './program-bundle.ts';

// `npm pack` of packages/daemon: bundles its programs to dist/ and copies the documents next to it. `--clean` (after
// packing) removes the copies made here.

const root = join(import.meta.dirname, '..');
const daemon = join(root, 'packages', 'daemon');
const dist = join(daemon, 'dist');

/** The README and some messages of the program link to the documents. */
const COPIES = ['LICENSE', 'README.md', 'docs'];

if (process.argv.includes('--clean')) {
  for (const name of COPIES) rmSync(join(daemon, name), { recursive: true, force: true });
} else {
  rmSync(dist, { recursive: true, force: true });
  // npm's own result is on standard output, so the page's build may print only errors.
  execFileSync(process.execPath, [join(root, 'scripts', 'ensure-page.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await bundleProgram(dist);
  for (const name of COPIES)
    if (existsSync(join(root, name))) cpSync(join(root, name), join(daemon, name), { recursive: true });
}
