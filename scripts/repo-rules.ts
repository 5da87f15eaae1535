import { posix } from 'node:path';
import { bareCode, importsOf, isTest, type RepoTree, resolveImport, sources } from './repo-tree.ts';

/** The result of a rule: failures break `npm test`, warnings are shown. */
export interface Finding {
  rule: string;
  path: string;
  text: string;
  severity: 'failure' | 'warning';
}
export type Rule = (tree: RepoTree) => Finding[];

const failure = (rule: string, path: string, text: string): Finding => ({ rule, path, text, severity: 'failure' });
const warning = (rule: string, path: string, text: string): Finding => ({ rule, path, text, severity: 'warning' });

const MAX_LINES = 500;
/** Aim below 250. The warning comes later, so that files are split by meaning, not by the limit. */
const WARN_LINES = 300;

export const fileSizes: Rule = (tree) =>
  [...tree.files]
    .filter(([path]) => !/\.(md|yaml)$/.test(path))
    .flatMap(([path, text]) => {
      const lines = text.trimEnd().split('\n').length;
      if (lines > MAX_LINES) return [failure('file size', path, `${lines} lines; the most is ${MAX_LINES}: split it`)];
      if (lines > WARN_LINES)
        return [warning('file size', path, `${lines} lines; split it where its responsibility splits`)];
      return [];
    });

const VAGUE = /^(utils?|helpers?|managers?|services?|misc|common)$/;
const VERSIONED = /-(v\d+|new|fixed|old)$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export const fileNames: Rule = (tree) =>
  [...tree.files.keys()]
    .filter((path) => /^(packages|scripts|test|bench)\/.*\.(tsx?|mjs|js)$/.test(path))
    .flatMap((path) =>
      path.split('/').flatMap((part) => {
        const name = part.replace(/(\.long|\.soak)?(\.test|\.d|\.config)?\.(tsx?|mjs|js)$/, '');
        if (VERSIONED.test(name)) return [failure('file name', path, `"${name}": replace the old one and delete it`)];
        if (name.split('-').some((word) => VAGUE.test(word)))
          return [failure('file name', path, `"${name}" says nothing: name it after the noun it is about`)];
        return KEBAB.test(name) ? [] : [failure('file name', path, `"${name}" is not kebab-case`)];
      }),
    );

const MARKDOWN = [
  /^(README|AGENTS|CONTRIBUTING|CHANGELOG)\.md$/,
  /^docs\/(adding-a-noun|agents|api|architecture|commands|delivery|feedback|github|glossary|guards|ideas|loop|mcp|memory|page|pipelines|replay|sandbox|sessions|settings|specs|tracker|vscode)\.md$/,
  /^docs\/decisions\/\d{3}-[a-z0-9-]+\.md$/,
  /^prompts\/.+\.md$/,
  /(^|\/)(fixtures?|sample)\/.+\.md$/,
];

export const markdown: Rule = (tree) =>
  [...tree.files.keys()]
    .filter((path) => path.endsWith('.md') && !MARKDOWN.some((allowed) => allowed.test(path)))
    .map((path) =>
      failure('prose', path, 'plans belong to issues; lasting knowledge to docs/ (see docs/architecture.md)'),
    );

const MAX_AGENT_WORDS = 500;

export const agentGuide: Rule = (tree) => {
  const words = (tree.files.get('AGENTS.md') ?? '').split(/\s+/).filter(Boolean).length;
  if (words <= MAX_AGENT_WORDS) return [];
  return [failure('agent guide', 'AGENTS.md', `${words} words; agents read the first ${MAX_AGENT_WORDS}: shorten it`)];
};

const PURE = /^packages\/(core|contract|daemon\/src\/engine)\//;
/** It may use timers: it retries every second while a person waits, and no simulator runs it. */
const STREAM_CLIENT = 'packages/contract/src/stream/client.ts';
/** Forbidden only in core and engine: the contract has a client that also runs in a browser. */
const NO_NETWORK = /^packages\/(core|daemon\/src\/engine)\//;
const IMPURE: [RegExp, string][] = [
  [/\bDate\.now\b/, 'Date.now'],
  [/\bnew Date\(\s*\)/, 'new Date()'],
  [/\bMath\.random\b/, 'Math.random'],
  [/\bperformance\.now\b/, 'performance.now'],
  [/\bset(Timeout|Interval|Immediate)\b/, 'a timer'],
  [/\bcrypto\.(randomUUID|getRandomValues)\b/, 'crypto randomness'],
];
const NETWORK: [RegExp, string][] = [[/\b(fetch|WebSocket|XMLHttpRequest|EventSource)\b\s*\(/, 'the network']];

/** The simulator can only replay code that gets time, randomness and ids as arguments. */
export const determinism: Rule = (tree) =>
  sources(tree)
    .filter(([path]) => PURE.test(path) && path !== STREAM_CLIENT)
    .flatMap(([path, text]) =>
      bareCode(text, { strings: false })
        .split('\n')
        .flatMap((line, index) =>
          (NO_NETWORK.test(path) ? [...IMPURE, ...NETWORK] : IMPURE)
            .filter(([pattern]) => pattern.test(line))
            .map(([, name]) =>
              failure('determinism', `${path}:${index + 1}`, `uses ${name}: take it from a port or an argument`),
            ),
        ),
    );

const DECLARED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:(?:type|interface|class)\s+(\w+)|const\s+(\w+)\s*=\s*z\.)/gm;

/** A noun has one schema: everything else is inferred from it or imports it. */
export const duplicateTypes: Rule = (tree) => {
  const homes = new Map<string, Set<string>>();
  for (const [path, text] of sources(tree)) {
    for (const match of bareCode(text, { strings: true }).matchAll(DECLARED)) {
      const name = (match[1] ?? match[2]) as string;
      homes.set(name, (homes.get(name) ?? new Set()).add(path));
    }
  }
  return [...homes]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => failure('one type, one home', [...paths].join(', '), `each exports its own "${name}"`));
};

/** Files that are started as programs; all other source must be reached from one of them. */
const ENTRIES = [
  'packages/daemon/src/main.ts',
  'packages/daemon/src/guard.ts',
  'packages/daemon/src/agents/scripted-player.ts',
  'packages/daemon/src/gates/scan/secret-scanner.ts',
  'packages/web/src/main.tsx',
  'packages/vscode/src/extension.ts',
  'packages/vscode/src/webview/fleet-page.ts',
];

export const unpluggedModules: Rule = (tree) => {
  if (!tree.files.has(ENTRIES[0] as string))
    return [warning('unplugged', ENTRIES[0] as string, 'does not exist: cannot tell what the product reaches')];
  const reached = new Set<string>();
  const waiting = ENTRIES.filter((path) => tree.files.has(path));
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const specifier of importsOf(tree.files.get(path) ?? '')) {
      const target = resolveImport(path, specifier);
      if (target && tree.files.has(target)) waiting.push(target);
    }
  }
  return sources(tree)
    .filter(([path]) => !reached.has(path) && !path.endsWith('.d.ts'))
    .map(([path]) => failure('unplugged', path, 'no program imports it: wire it in or delete it'));
};

export const brokenImports: Rule = (tree) =>
  [...tree.files]
    .filter(([path]) => /\.tsx?$/.test(path) && !isTest(path))
    .flatMap(([path, text]) =>
      importsOf(text).flatMap((specifier) => {
        const target = resolveImport(path, specifier);
        if (!target || !specifier.startsWith('.') || tree.files.has(target)) return [];
        if (['.json', '.css', '.svg'].includes(posix.extname(target))) return [];
        return [failure('imports', path, `imports ${specifier}, which is not there (endings are written out: .ts)`)];
      }),
    );
