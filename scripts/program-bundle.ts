import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');
const daemon = join(root, 'packages', 'daemon');

/** All end up directly in one folder: what a module finds beside itself in src it finds beside the bundle. */
const PROGRAMS: [source: string, out: string][] = [
  ['main.ts', 'main'],
  ['guard.ts', 'guard'],
  ['agents/scripted-player.ts', 'scripted-player'],
  ['agents/codex/hook.ts', 'codex-hook'],
];
/**
 * Part of nearly every start, and of many files each: one file is found and read sooner than a hundred. Their licences, and
 * those of what they bring along, lie beside the bundle.
 */
const INSIDE = ['zod', 'yaml', 'commander', 'unbash', 'pino'];
/** From where in the repository, to where beside the bundle. */
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
 * The same programs, quicker to load.
 *
 * esbuild leaves the unused parts of a module out only when it is imported as a whole by `import * as`. Through `{ z }` the
 * bundle would hold every part of zod, and its messages in forty languages.
 *
 * An `import` of one of Node's own modules evaluates all that it exports, and some of that loads further modules. Taken from
 * an object, only what is named is evaluated.
 */
const LIGHTER_IMPORTS: Plugin = {
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
 * The program as it is installed: bundles with the workspace's own packages inside, and the files that ship beside them
 * where src/assets.ts looks. In pieces, so that a command loads only what it needs.
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
    external: Object.keys(manifest.dependencies).filter((name) => !INSIDE.includes(name)),
    // What is inside and not yet a module of the language asks for Node's own by `require`.
    banner: { js: 'const require = process.getBuiltinModule;' },
    plugins: [LIGHTER_IMPORTS],
    // Names and lines stay, for the stack traces of the log.
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
