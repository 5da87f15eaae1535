import type { Finding, Rule } from './repo-rules.ts';
import { importsOf, resolveImport, sources } from './repo-tree.ts';

// What may import what. A part is a package, or for the daemon a folder of its src; a file directly in the
// daemon's src is a part with its own name. Every part has a line here, so the table shows the architecture.

/** Small modules below everything: the ports, and the one place each for time, processes, git and shipped files. */
const GROUND = ['ports', 'clock', 'process', 'git', 'assets', 'asset-folder', 'version', 'build-version'];
/** Implementations of ports. They import the base and never each other. */
const ADAPTERS = [
  'access',
  'channels',
  'metrics',
  'store',
  'workspace',
  'agents',
  'gates',
  'delivery',
  'prepare',
  'prompts',
  'sessions',
  'research',
  'config',
];

const ANY_PACKAGE = ['contract', 'core'];

const MAY_IMPORT: Record<string, string[] | 'everything'> = {
  contract: [],
  core: ['contract'],
  web: ['contract'],
  vscode: ['contract'],
  ...Object.fromEntries([...GROUND, ...ADAPTERS].map((part) => [part, [...ANY_PACKAGE, ...GROUND]])),
  /** They read their own files with config's line numbers. */
  guards: [...ANY_PACKAGE, ...GROUND, 'config'],
  questions: [...ANY_PACKAGE, ...GROUND, 'config'],
  prompts: [...ANY_PACKAGE, ...GROUND, 'config'],
  specs: [...ANY_PACKAGE, ...GROUND, 'config'],
  trackers: [...ANY_PACKAGE, ...GROUND, 'config'],
  knowledge: [...ANY_PACKAGE, ...GROUND, 'config'],
  /** The guards for a person's own session; the figures of a test run are read as the gates read them. */
  hooks: [...ANY_PACKAGE, ...GROUND, 'guards', 'config', 'gates'],
  /** Entries in the configuration of MCP clients. */
  clients: [...ANY_PACKAGE, ...GROUND, 'hooks'],
  engine: [...ANY_PACKAGE, 'ports'],
  /** What a command does, the same for all interfaces. */
  handlers: [...ANY_PACKAGE, ...GROUND, 'config', 'engine', 'metrics'],
  /** One reader of the log for all viewers. */
  stream: [...ANY_PACKAGE, ...GROUND, 'handlers'],
  /** Tools for agents and other programs. */
  mcp: [...ANY_PACKAGE, ...GROUND, 'handlers'],
  http: [...ANY_PACKAGE, ...GROUND, 'handlers', 'stream'],
  cli: [
    ...ANY_PACKAGE,
    ...GROUND,
    'handlers',
    'http',
    'config',
    'demo',
    'assembly',
    'hooks',
    'agents',
    'questions',
    'specs',
    'mcp',
    'clients',
  ],
  demo: [...ANY_PACKAGE, ...GROUND, 'config'],
  /** Assembles the running program from the parts. */
  assembly: 'everything',
  main: 'everything',
  guard: ['hooks'],
};

/** External packages that the browser-safe and the pure part may use. */
const OUTSIDE: Record<string, string[]> = { contract: ['zod'], core: ['diff'] };

function partOf(path: string): string | null {
  const match = /^packages\/([^/]+)\/src\/([^/]+)/.exec(path);
  if (!match) return null;
  const [, pack, first] = match as unknown as [string, string, string];
  return pack === 'daemon' ? first.replace(/\.tsx?$/, '') : pack;
}

export const importRules: Rule = (tree) =>
  sources(tree).flatMap(([path, text]) => {
    const part = partOf(path) as string;
    const allowed = MAY_IMPORT[part];
    const fail = (why: string): Finding => ({ rule: 'imports', path, text: why, severity: 'failure' });
    if (!allowed)
      return [fail(`"${part}" has no line in MAY_IMPORT (scripts/import-rules.ts): say what it may import`)];
    return importsOf(text).flatMap((specifier) => {
      const target = resolveImport(path, specifier);
      if (!target) {
        const outside = OUTSIDE[part];
        return outside && !outside.includes(specifier) ? [fail(`${part} may not import ${specifier}`)] : [];
      }
      const other = partOf(target);
      if (other === part || allowed === 'everything') return [];
      if (other && allowed.includes(other)) return [];
      return [fail(`${part} may not import ${other ?? target} (${specifier})`)];
    });
  });

/** Folders of core import each other in one direction only, so that a noun can be read and moved separately. */
export const coreFolders: Rule = (tree) => {
  const imports = new Map<string, Map<string, string>>();
  for (const [path, text] of sources(tree)) {
    const from = coreFolder(path);
    if (!from) continue;
    for (const specifier of importsOf(text)) {
      const to = coreFolder(resolveImport(path, specifier) ?? '');
      if (!to || to === from) continue;
      imports.set(from, (imports.get(from) ?? new Map<string, string>()).set(to, path));
    }
  }
  return [...imports.keys()].sort().flatMap((folder) => cycleFrom(folder, imports));
};

const coreFolder = (path: string): string | null => /^packages\/core\/src\/([^/]+)\//.exec(path)?.[1] ?? null;

/** A cycle is reported once, at its first folder in the order of names. */
function cycleFrom(start: string, imports: Map<string, Map<string, string>>): Finding[] {
  const seen = new Set<string>();
  const walk = (folder: string, way: string[]): string[] | null => {
    for (const next of imports.get(folder)?.keys() ?? []) {
      if (next === start) return [...way, next];
      if (next < start || seen.has(next)) continue;
      seen.add(next);
      const found = walk(next, [...way, next]);
      if (found) return found;
    }
    return null;
  };
  const cycle = walk(start, [start]);
  if (!cycle) return [];
  const path = imports.get(start)?.get(cycle[1]!) ?? start;
  return [
    { rule: 'cycle', path, text: `folders of core import each other: ${cycle.join(' → ')}`, severity: 'failure' },
  ];
}

/** The frame of the page imports no feature: app.tsx passes features to it. */
export const pageFrame: Rule = (tree) =>
  sources(tree).flatMap(([path, text]) => {
    if (!/^packages\/web\/src\/(shell|graph)\//.test(path)) return [];
    return importsOf(text).flatMap((specifier): Finding[] => {
      const target = resolveImport(path, specifier) ?? '';
      if (!target.startsWith('packages/web/src/features/')) return [];
      return [
        { rule: 'imports', path, text: `the frame may not import a feature (${specifier})`, severity: 'failure' },
      ];
    });
  });
