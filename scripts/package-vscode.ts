import { join } from 'node:path';
import { packExtension } from './vscode-bundle.ts';

// `npm run package:vscode`: bundles the extension and packs it as packages/vscode/tidemill-<version>.vsix.

const extension = join(import.meta.dirname, '..', 'packages', 'vscode');
const { file, bytes } = await packExtension(join(extension, 'dist'), extension);
console.log(`${file}: the bundle has ${Math.round(bytes / 1000)} kB`);
