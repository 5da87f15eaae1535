import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');
const daemon = join(root, 'packages', 'daemon');

/** All are placed in one folder: files next to a module in src are next to the bundle. */
const PROGRAMS: [source: string, out: string][] = [
  ['main.ts', 'main'],
  ['guard.ts', 'guard'],
  ['agents/scripted-player.ts', 'scripted-player'],
  ['agents/codex/hook.ts', 'codex-hook'],
  ['gates/scan/secret-scanner.ts', 'secret-scanner'],
];
/** Source paths in the repository, and their places next to the bundle. */
const ASSETS: [from: string, to: string][] = [
  ['prompts', 'prompts'],
  ['packages/daemon/src/demo/sample', 'demo/sample'],
  ['packages/web/dist', 'web'],
];

/** `a, type T, b as c` as a pattern that takes the values out of an object. */
const taken = (names: string) =>
  names
    .split(',')
    .map((name) => name.trim().replace(' as ', ': '))
    .filter((name) => name !== '' && !name.startsWith('type '))
    .join(', ');

/**
 * Makes the programs faster to load.
 *
 * esbuild omits the unused parts of a module only with `import * as`. With `{ z }` the bundle would contain every part of
 * zod, and its messages in forty languages.
 *
 * An `import` of one of Node's own modules evaluates all its exports, and some of these load more modules. When values are
 * taken from an object, only those are evaluated.
 */
export const LIGHTER_IMPORTS: Plugin = {
  name: 'lighter-imports',
  setup({ onLoad }) {
    onLoad({ filter: /packages[\\/](contract|core|daemon)[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const contents = (await readFile(path, 'utf8'))
        .replace("import { z } from 'zod';", "import * as z from 'zod';")
        .replace(
          /^import \{([^}]*)\} from '(node:[^']+)';$/gm,
          (_, names: string, name: string) => `const { ${taken(names)} } = process.getBuiltinModule('${name}');`,
        );
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * The installed program: bundles that contain the workspace's own packages, and shipped files where src/assets.ts looks for
 * them. It is split, so that a command loads only what it needs.
 */
export async function bundleProgram(outdir: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(daemon, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const sources = PROGRAMS.map(([source, out]) => ({ in: join(daemon, 'src', source), out }));
  const missing = sources.filter((source) => !existsSync(source.in));
  if (missing.length > 0) throw new Error(`nothing to bundle at ${missing.map((source) => source.in).join(', ')}`);
  const { metafile } = await build({
    metafile: true,
    entryPoints: sources,
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: 'part-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // What nearly every start loads is a dependency of development and so inside: one file loads faster than a hundred.
    // The licences of what is inside are next to the bundle.
    external: Object.keys(manifest.dependencies),
    // Bundled CommonJS modules load Node's own modules with `require`.
    banner: { js: 'const require = process.getBuiltinModule;' },
    plugins: [LIGHTER_IMPORTS],
    // Keep names and lines for stack traces in the log.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 120,
    sourcemap: false,
    logLevel: 'warning',
  });
  for (const [from, to] of [...ASSETS, ...licencesOf(Object.keys(metafile.inputs))]) {
    if (existsSync(join(root, from))) cpSync(join(root, from), join(outdir, to), { recursive: true });
  }
}

function licencesOf(inputs: string[]): [from: string, to: string][] {
  const names = inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(names)].flatMap((name): [string, string][] => {
    const folder = `node_modules/${name}`;
    const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
    return file === undefined ? [] : [[`${folder}/${file}`, `${name.replace('/', '-')}.LICENSE`]];
  });
}
