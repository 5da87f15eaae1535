import type { Folder } from './folder.ts';

/** Usual names of the extra or group with what the tests need. */
const NAMES = ['dev', 'test', 'tests', 'testing'];

export interface TestRequirements {
  /** The extra of the package that has what the tests need. */
  extra: string | null;
  /** Requirements of dependency groups, which older versions of pip cannot install by name. */
  groups: string[];
  /** The text of all of them, to see which tools are among them. */
  text: string;
}

export async function testRequirements(folder: Folder): Promise<TestRequirements> {
  const project = await folder.text('pyproject.toml');
  const extras = await extrasOf(folder, project);
  const isForTests = ({ text }: { text: string }) => text.includes('pytest');
  const extra = extras.find(isForTests) ?? extras[0];
  const groups = [...new Set(NAMES.flatMap((name) => groupOf(project, name, new Set())))];
  return { extra: extra?.name ?? null, groups, text: [extra?.text ?? '', ...groups].join('\n') };
}

async function extrasOf(folder: Folder, project: string): Promise<{ name: string; text: string }[]> {
  const setup = await folder.text('setup.py');
  const inSetup = setup.slice(Math.max(0, setup.indexOf('extras_require')));
  const section = /^\[options\.extras_require\]\n([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(
    await folder.text('setup.cfg'),
  )?.[1];
  return NAMES.flatMap((name) => {
    const listed = listOf(project, 'project.optional-dependencies', name);
    const inCfg = new RegExp(`^${name}\\s*=([^\\n]*(?:\\n[ \\t]+[^\\n]*)*)`, 'm').exec(section ?? '')?.[1];
    const inPy = setup.includes('extras_require')
      ? new RegExp(`["']${name}["']\\s*:\\s*\\[([^\\]]*)`).exec(inSetup)?.[1]
      : undefined;
    const text = listed ?? inCfg ?? inPy;
    return text === undefined ? [] : [{ name, text }];
  });
}

/** The content of a list in a table, also where the table is part of the key: `optional-dependencies.tests = […]`. */
function listOf(toml: string, table: string, key: string): string | undefined {
  const [parent = '', child = ''] = table.split('.');
  const own = sectionOf(toml, table);
  const ofParent = child === '' ? '' : sectionOf(toml, parent);
  return (
    listAt(own, `["']?${key}["']?`) ?? (child === '' ? undefined : listAt(ofParent, `${child}\\.["']?${key}["']?`))
  );
}

const sectionOf = (toml: string, name: string) =>
  new RegExp(`^\\[${name.replaceAll('.', '\\.')}\\][^\\n]*\\n([\\s\\S]*?)(?=^\\[|(?![\\s\\S]))`, 'm').exec(toml)?.[1] ??
  '';

/** Square brackets inside quotes belong to a requirement such as `httpx[http2]`. */
const listAt = (text: string, key: string) =>
  new RegExp(`^[ \\t]*${key}[ \\t]*=[ \\t]*\\[((?:[^\\]"']|"[^"\\n]*"|'[^'\\n]*')*)\\]`, 'm').exec(text)?.[1];

/** The requirements of a dependency group, with those of the groups that it includes. */
function groupOf(toml: string, name: string, seen: Set<string>): string[] {
  const list = seen.has(name) ? undefined : listOf(toml, 'dependency-groups', name);
  if (list === undefined) return [];
  seen.add(name);
  const included = [...list.matchAll(/\{\s*include-group\s*=\s*["']([\w.-]+)["']\s*\}/g)];
  const own = list.replaceAll(/\{[^}]*\}/g, '').replaceAll(/#[^\n]*/g, '');
  const quoted = [...own.matchAll(/"([^"\n]+)"|'([^'\n]+)'/g)].map(([, double, single]) => double ?? single ?? '');
  return [...quoted, ...included.flatMap(([, other = '']) => groupOf(toml, other, seen))];
}
