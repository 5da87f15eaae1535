/** A script that a gate runs. */
export interface ScriptGate {
  /** The gate's name. */
  name: string;
  script: string;
}

/** What a gate is for, with the usual names of its script. The first that only checks is taken. */
const KINDS: { gate: string; names: string[] }[] = [
  {
    gate: 'typecheck',
    names: [
      'typecheck',
      'type-check',
      'check:types',
      'check-types',
      'types:check',
      'tsc:check',
      'ts:check',
      'typecheck:all',
    ],
  },
  {
    gate: 'format',
    names: ['format:check', 'check:format', 'check-format', 'format-check', 'fmt:check', 'prettier:check', 'format'],
  },
  {
    gate: 'lint',
    names: ['lint', 'lint:check', 'check:lint', 'check-lint', 'lint:ci', 'test:lint', 'eslint:check', 'eslint'],
  },
  { gate: 'check', names: ['check', 'check:ci', 'biome:check'] },
  { gate: 'test', names: ['test', 'test:ci', 'test-ci', 'test:unit', 'test:run', 'unit', 'test:node', 'test:all'] },
];
const MORE_TYPES = ['test:types', 'lint:types', 'type-tests'];

/** They change files, or never end. */
const FIXES =
  /(^|\s)--(write|fix|apply|apply-unsafe|update|updateSnapshot)\b|\beslint_d .*--fix\b|\bprettier\b.*\s-w\b/;
const LOOKS = /(^|\s)(--check|-c|--list-different|-l)(\s|$)|^biome format\b/;
const WATCHES = /(^|\s)(--watch(All)?\b(?!=false)|--ui\b|--inspect\S*)|\bnodemon\b|\b(vitest|jest|ava) (watch|dev)\b/;
const NO_TESTS = /no test specified|^\s*(echo\b[^&|;]*|true|exit 0|:)\s*$/;

/**
 * The scripts of a package that check it, never one that repairs files. `inCi`: the scripts that the repository's own CI
 * runs; of several unusual names, one of these is taken.
 */
export function checkScripts(scripts: Record<string, string>, inCi: ReadonlySet<string>): ScriptGate[] {
  const usable = (name: string) => name in scripts && isCheck(name, scripts, new Set());
  const found: ScriptGate[] = [];
  for (const { gate, names } of KINDS) {
    const [usual = ''] = names;
    const script = usable(usual) ? usual : (names.find((name) => usable(name) && inCi.has(name)) ?? names.find(usable));
    if (script !== undefined) found.push({ name: gate, script });
  }
  if (!found.some(({ name }) => name === 'typecheck')) {
    const script = MORE_TYPES.find(usable);
    if (script !== undefined) found.unshift({ name: 'typecheck', script });
  }
  if (!found.some(({ name }) => name === 'test'))
    for (const script of Object.keys(scripts).filter(isPartOfTests).filter(usable))
      found.push({ name: script.replace(/[^a-z0-9]+/gi, '-').toLowerCase(), script });
  // A script that another gate's script runs anyway proves nothing more.
  return found.filter(
    ({ script }) =>
      !found.some((other) => other.script !== script && calls(scripts[other.script]!, scripts).has(script)),
  );
}

const isPartOfTests = (name: string) =>
  /^test[:-]/.test(name) && !/watch|debug|ui$|cov|update|bench|e2e|browser/.test(name);

function isCheck(name: string, scripts: Record<string, string>, seen: Set<string>): boolean {
  const text = scripts[name] ?? '';
  if (FIXES.test(text) || WATCHES.test(text) || NO_TESTS.test(text)) return false;
  // A script of this name repairs, unless its own words say that it looks only.
  if (name === 'format' && !LOOKS.test(text)) return false;
  seen.add(name);
  return [...calls(text, scripts)].every((each) => seen.has(each) || !(FIXES.test(scripts[each]!) || isFixer(each)));
}

const isFixer = (name: string) => /(^|[:-])(fix|write)($|[:-])/.test(name);

/** The scripts of the same package that a text runs: `npm run a`, `yarn a`, `run-s a b:*`. */
function calls(text: string, scripts: Record<string, string>): Set<string> {
  const found = new Set<string>();
  const groups = text.matchAll(/\b(?:npm-run-all2?|run-s|run-p)\s+([^&|;]+)/g);
  const words = [...groups].flatMap(([, list = '']) => list.replaceAll(/["'\\]/g, '').split(/\s+/));
  const single = text.matchAll(
    /\b(?:npm|yarn|pnpm|bun)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?(?:-\S+\s+)*["']?([\w:/^.*-]+)/g,
  );
  for (const word of [...words, ...[...single].map(([, name = '']) => name)]) {
    if (word in scripts) found.add(word);
    const [, start] = /^\/?\^?([\w:-]+)(?:\.\*|\*)\/?$/.exec(word) ?? [];
    if (start) for (const name of Object.keys(scripts)) if (name.startsWith(start)) found.add(name);
  }
  return found;
}
