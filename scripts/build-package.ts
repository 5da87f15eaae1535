import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';

// `npm pack` of packages/daemon: bundles its programs to dist/ with the workspace's own packages inside, and lays the
// files that ship beside them where src/assets.ts looks. `--clean` (after packing) removes the copies made here.

const root = join(import.meta.dirname, '..');
const daemon = join(root, 'packages', 'daemon');
const dist = join(daemon, 'dist');

/** All end up directly in dist/: what a module finds beside itself in src it finds beside the bundle. */
const PROGRAMS: [source: string, out: string][] = [
  ['main.ts', 'main'],
  ['agents/scripted-player.ts', 'scripted-player'],
  ['agents/codex/hook.ts', 'codex-hook'],
];
/** In pieces, so that what it rarely needs is loaded only then; they lie beside it, so the same holds. */
const QUICK_PROGRAM = { in: join(daemon, 'src', 'guard.ts'), out: 'guard' };
/** Bundled with it: as one file the shell's grammar loads in a third of the time. Its licence lies beside the bundle. */
const INSIDE = ['unbash'];
/** From where in the repository, to where beside the bundle. */
const ASSETS: [from: string, to: string][] = [
  ['prompts', 'prompts'],
  ['packages/daemon/src/demo/sample', 'demo/sample'],
  ['packages/web/dist', 'web'],
  ...INSIDE.map((name): [string, string] => [`node_modules/${name}/LICENSE`, `${name}.LICENSE`]),
];
/** The README leads to the documents, and so do some messages of the program. */
const COPIES = ['LICENSE', 'README.md', 'docs'];

async function bundle(): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(daemon, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const sources = PROGRAMS.map(([source, out]) => ({ in: join(daemon, 'src', source), out }));
  const missing = sources.filter((source) => !existsSync(source.in));
  if (missing.length > 0) throw new Error(`nothing to bundle at ${missing.map((source) => source.in).join(', ')}`);
  const shared: BuildOptions = {
    outdir: dist,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: Object.keys(manifest.dependencies),
    sourcemap: false,
    logLevel: 'warning',
  };
  await build({
    ...shared,
    entryPoints: sources,
    // Without splitting, each program is one file, so import.meta.dirname in assets.ts is the folder of that program.
    splitting: false,
  });
  const external = shared.external?.filter((name) => !INSIDE.includes(name));
  await build({ ...shared, external, entryPoints: [QUICK_PROGRAM], splitting: true, chunkNames: 'guard-[hash]' });
}

function copyAssets(): void {
  for (const [from, to] of ASSETS) {
    if (existsSync(join(root, from))) cpSync(join(root, from), join(dist, to), { recursive: true });
  }
  for (const name of COPIES)
    if (existsSync(join(root, name))) cpSync(join(root, name), join(daemon, name), { recursive: true });
}

if (process.argv.includes('--clean')) {
  for (const name of COPIES) rmSync(join(daemon, name), { recursive: true, force: true });
} else {
  rmSync(dist, { recursive: true, force: true });
  // npm prints what packing prints on standard output as its own answer: the page's build may only complain.
  execFileSync(process.execPath, [join(root, 'scripts', 'ensure-page.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await bundle();
  copyAssets();
}
