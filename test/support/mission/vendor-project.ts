import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportedTask } from '@tidemill/contract';
import type { TidemillHome } from '../tidemill-home.ts';
import type { Installed } from './vendors.ts';

export interface VendorProjectOptions {
  name: string;
  /** The entries of `agents`. */
  agents: Record<string, object>;
  tasks: ImportedTask[];
  workers?: number;
  /** Its packages are the repository's own: that is how its program is found. */
  installed: Installed;
  prices?: string;
  /** The command of its gate; its tests, if left out. */
  gate?: string;
}

/** A small project with real tests as its gate, whose agents are a vendor's. Returns its root. */
export async function makeVendorProject(machine: TidemillHome, options: VendorProjectOptions): Promise<string> {
  const root = join(machine.folder, options.name);
  for (const folder of ['.tidemill', 'src', 'test']) mkdirSync(join(root, folder), { recursive: true });
  const add = (file: string, text: string) => writeFileSync(join(root, file), text);
  add('.gitignore', 'node_modules\n');
  // Hard links: the packages are large.
  execFileSync('cp', ['-al', options.installed.modules, join(root, 'node_modules')]);
  add('src/sum.mjs', 'export const sum = (list) => list.reduce((total, each) => total + each, 0);\n');
  add('test/sum.test.mjs', testOf('sum', 'equal(sum([1, 2]), 3)'));
  if (options.prices) add('.tidemill/prices.yaml', options.prices);
  const config = {
    target: 'main',
    workers: options.workers ?? 2,
    agents: options.agents,
    gates: [{ name: 'test', run: options.gate ?? `${JSON.stringify(process.execPath)} --test`, timeout: '60s' }],
  };
  // JSON is YAML.
  add('.tidemill/config.yaml', `${JSON.stringify(config, null, 2)}\n`);
  await machine.git(root, 'init', '-q', '-b', 'main');
  await machine.git(root, 'add', '-A');
  await machine.git(root, 'commit', '-q', '-m', 'Start');
  const file = join(machine.folder, `${options.name}-tasks.yaml`);
  writeFileSync(file, JSON.stringify(options.tasks));
  await machine.json(['task', 'add', '--from', file], root);
  return root;
}

/** A test file of the project: one function, one assertion. */
export function testOf(name: string, assertion: string): string {
  return [
    "import { equal, throws } from 'node:assert/strict';",
    "import { test } from 'node:test';",
    `import { ${name} } from '../src/${name}.mjs';`,
    `test('${name}', () => ${assertion});`,
    '// Both are at hand for whatever is asserted.',
    'void [equal, throws];',
    '',
  ].join('\n');
}
