import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { LIGHTER_IMPORTS } from './program-bundle.ts';

const root = join(import.meta.dirname, '..');
const extension = join(root, 'packages', 'vscode');

/** A larger one takes noticeably longer to install and to load. */
export const BUNDLE_LIMIT = 400_000;

/** Loaded when something is shown. The first part finds it beside itself. */
const LATER_PART: Plugin = {
  name: 'later-part',
  setup({ onResolve }) {
    onResolve({ filter: /\/contract-part\.ts$/ }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: './contract-part.cjs', external: true },
    );
  },
};

/** The extension as it is packed: a folder with its manifest, bundle, webview and documents. Returns the bundle's size. */
export async function bundleExtension(folder: string): Promise<{ bytes: number; version: string }> {
  rmSync(folder, { recursive: true, force: true });
  const dist = join(folder, 'dist');
  const shared = { bundle: true, minify: true, sourcemap: false, logLevel: 'warning' } as const;
  const [{ metafile }] = await Promise.all([
    build({
      ...shared,
      metafile: true,
      entryPoints: ['extension', 'contract-part'].map((out) => ({ in: join(extension, 'src', `${out}.ts`), out })),
      outdir: dist,
      outExtension: { '.js': '.cjs' },
      format: 'cjs',
      platform: 'node',
      // The oldest editor that the manifest allows.
      target: 'node22',
      external: ['vscode'],
      plugins: [LATER_PART, LIGHTER_IMPORTS],
    }),
    build({
      ...shared,
      entryPoints: [{ in: join(extension, 'src', 'webview', 'fleet-page.ts'), out: 'fleet' }],
      outdir: dist,
      format: 'iife',
      platform: 'browser',
      target: 'chrome130',
    }),
  ]);
  cpSync(join(extension, 'media'), join(folder, 'media'), { recursive: true });
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'docs', 'vscode.md'), join(folder, 'README.md'));
  const {
    devDependencies: _,
    private: __,
    type: ___,
    ...manifest
  } = JSON.parse(readFileSync(join(extension, 'package.json'), 'utf8')) as Record<string, unknown> & {
    version: string;
  };
  const packed = { ...manifest, files: ['dist', 'media'] };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
  const [first, later] = ['extension.cjs', 'contract-part.cjs'].map((name) => statSync(join(dist, name)).size);
  refuseEagerContract(metafile.outputs);
  return { bytes: first! + later!, version: manifest.version };
}

/** Activation would take several times as long. */
function refuseEagerContract(outputs: Metafile['outputs']): void {
  const [, first] = Object.entries(outputs).find(([path]) => path.endsWith('/extension.cjs'))!;
  const wrong = Object.keys(first.inputs).find((path) => path.includes('packages/contract/src/'));
  if (wrong)
    throw new Error(
      `the first part of the extension loads ${wrong}: import it in packages/vscode/src/contract-part.ts`,
    );
}

/** Bundles the extension into `folder` and packs it as a .vsix in another one. */
export async function packExtension(folder: string, to: string): Promise<{ file: string; bytes: number }> {
  const { bytes, version } = await bundleExtension(folder);
  if (bytes > BUNDLE_LIMIT) throw new Error(`the bundle has ${bytes} bytes; the limit is ${BUNDLE_LIMIT}`);
  const file = join(to, `tidemill-${version}.vsix`);
  const vsce = join(root, 'node_modules', '@vscode', 'vsce', 'vsce');
  const options = ['--no-dependencies', '--allow-missing-repository', '--skip-license', '--no-rewrite-relative-links'];
  execFileSync(process.execPath, [vsce, 'package', ...options, '--out', file], { cwd: folder, stdio: 'pipe' });
  return { file, bytes };
}
