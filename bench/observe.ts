import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GateConfig } from '../packages/contract/src/index.ts';
import { createGates } from '../packages/daemon/src/gates/gates.ts';
import { observingStatus } from '../packages/daemon/src/process/observe.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const TESTS = 6;
const GATES = [
  { name: 'node', run: 'node --test' },
  { name: 'python', run: 'python3 -B -m unittest discover -s tests' },
  { name: 'shell', run: 'for each in checks/*.sh; do sh "$each" || exit 1; done' },
];

/** How much longer a gate takes while it is observed. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const files = fill(join(folder, 'checkout'));
    mkdirSync(join(folder, 'logs'));
    const gates = createGates({
      config: GATES.map((gate) => GateConfig.parse(gate)),
      host: { root: folder, dataDir: join(folder, 'data'), homeId: 'bench', sandbox: 'auto' },
      logDir: join(folder, 'logs'),
    });
    const { why } = await observingStatus();
    const request = { path: join(folder, 'checkout'), tree: '', files: null, signal: new AbortController().signal };
    const rows = [];
    for (const { name } of GATES) {
      const only = [name];
      const times = await interleaved(sized(options, 15, 5), {
        plain: () => timed(() => gates.run({ ...request, only })),
        proof: () => timed(() => gates.run({ ...request, only, files })),
        target: () => timed(() => gates.run({ ...request, only, observe: true })),
      });
      const peer = { name: 'not observed', value: median(times.plain) };
      const target = { ratioAtMost: 1.1 };
      rows.push(row({ name: `${name}: a proof`, value: median(times.proof), unit: 'ms', peer, target }));
      rows.push(row({ name: `${name}: once on the target`, value: median(times.target), unit: 'ms', peer }));
    }
    return {
      name: 'observe',
      title: 'Observing what gates read',
      rows,
      notes: [
        `What gates read is observed ${why}. Each gate runs ${TESTS} small test files; the change has ${files.length} files.`,
        'The run on the target happens in the background, once a day and for each change of settings.',
      ],
    };
  });
}

function fill(folder: string): string[] {
  const all = Array.from({ length: TESTS }, (_, index) => ({
    [`src/f${index}.js`]: 'exports.f = (a, b) => a + b;\n',
    [`test/f${index}.test.js`]: `const { test } = require('node:test');\nconst { f } = require('../src/f${index}.js');\ntest('adds', () => { for (let i = 0; i < 2e7; i += 1) if (f(i, 1) !== i + 1) throw i; });\n`,
    [`tests/test_f${index}.py`]: `import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        for i in range(200000): self.assertEqual(i + 1, 1 + i)\n`,
    [`checks/f${index}.sh`]: `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; grep -q exports src/f${index}.js\n`,
  }));
  const files = Object.assign({}, ...all) as Record<string, string>;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return Object.keys(files);
}
