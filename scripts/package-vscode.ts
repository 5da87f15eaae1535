import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { BUNDLE_LIMIT, bundleExtension } from './vscode-bundle.ts';

// `npm run package:vscode`: bundles the extension and packs it as packages/vscode/tidemill-<version>.vsix.

const root = join(import.meta.dirname, '..');
const extension = join(root, 'packages', 'vscode');
const folder = join(extension, 'dist');

const { bytes, version } = await bundleExtension(folder);
if (bytes > BUNDLE_LIMIT) throw new Error(`the bundle has ${bytes} bytes; the limit is ${BUNDLE_LIMIT}`);
const file = join(extension, `tidemill-${version}.vsix`);
const vsce = join(root, 'node_modules', '@vscode', 'vsce', 'vsce');
const options = ['--no-dependencies', '--allow-missing-repository', '--skip-license', '--no-rewrite-relative-links'];
execFileSync(process.execPath, [vsce, 'package', ...options, '--out', file], { cwd: folder, stdio: 'inherit' });
console.log(`${file}: the bundle has ${Math.round(bytes / 1000)} kB`);
