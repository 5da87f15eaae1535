import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The repository's own text files, by path from its root with forward slashes. */
export interface RepoTree {
  files: Map<string, string>;
}

const SKIPPED_FOLDERS = new Set([
  'node_modules',
  '.git',
  'dist',
  'output',
  'results',
  '.tidemill-cache',
  '.tidemill-dev',
]);
const TEXT = /\.(ts|mts|tsx|mjs|js|md|yaml)$/;

export function loadTree(root: string): RepoTree {
  const files = new Map<string, string>();
  const walk = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) walk(path);
      else if (entry.isFile() && TEXT.test(entry.name)) files.set(path, readFileSync(join(root, path), 'utf8'));
    }
  };
  if (existsSync(root)) walk('');
  return { files };
}

/** Test files, the suites that several of them share, and what supports them. */
export const isTest = (path: string) => /(?:\.test|-suite)\.tsx?$/.test(path) || path.startsWith('test/');

/** Source files of a package, without tests. */
export function sources(tree: RepoTree): [path: string, text: string][] {
  return [...tree.files].filter(([path]) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) && !isTest(path));
}

// One token per alternative, so that a quote in a comment or a comment sign in a string has no effect.
const TOKENS = new RegExp(
  [
    /\/\/[^\n]*|\/\*[\s\S]*?\*\//,
    /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/,
    // A regular expression, which may have a single quote in it. Division follows a value, never one of these.
    /(?<=[(,=:[!&|?]\s*|\breturn\s+)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** The code without comments; with `strings: false` also without text in quotes. Line breaks stay. */
export function bareCode(text: string, keep: { strings: boolean }): string {
  const blank = (token: string) => token.replace(/[^\n]/g, ' ');
  return text.replace(TOKENS, (token) => (/^\/[/*]/.test(token) || !keep.strings ? blank(token) : token));
}

const IMPORTS = [
  /^[ \t]*import\s+(?:type\s+)?(?:[\w*\s{},$]+?\s+from\s+)?['"]([^'"\n]+)['"]/gm,
  /^[ \t]*export\s+(?:type\s+)?[\w*\s{},$]+?\s+from\s+['"]([^'"\n]+)['"]/gm,
  /\bimport\s*\(\s*['"]([^'"\n]+)['"]/g,
  // A module started as a separate program or worker.
  /\bnew URL\(\s*['"](\.[^'"\n]+\.tsx?)['"]\s*,\s*import\.meta\.url/g,
];

/** What a module names in imports, re-exports, dynamic imports, and as files next to it. */
export function importsOf(text: string): string[] {
  const code = bareCode(text, { strings: true });
  return IMPORTS.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] as string));
}

/** The files that `packages/contract/package.json` exports besides its index. */
const EXPORTED_AS: Record<string, string> = {
  'contract/call-to-record': 'guard-proposal/call-to-record',
  'contract/client': 'api/client',
  'contract/modes': 'run/modes',
  'contract/stream': 'stream/client',
};

/** The file of a specifier in this repository; null for external packages. */
export function resolveImport(from: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return posix.normalize(posix.join(posix.dirname(from), specifier));
  const own = /^@tidemill\/([a-z-]+)(?:\/([a-z-]+))?$/.exec(specifier);
  if (!own) return null;
  const [, pack, name = 'index'] = own;
  return `packages/${pack}/src/${EXPORTED_AS[`${pack}/${name}`] ?? name}.ts`;
}
