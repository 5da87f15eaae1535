import { INTEGRITY_GATE } from '@tidemill/contract';
import { afterEach, expect, test } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import type { Agent, GateReport, GateRequest, Gates } from '../../ports.ts';

const MINUTE = 60_000;
const OTHERS = Array.from({ length: 11 }, (_, index) => `src/other${index}.js`);
const SUM = 'export const sum = (a, b) => a + b + 10;\nexport const less = (a, b) => a < b;\n';
const texts = new Map([['src/sum.js', SUM], ...OTHERS.map((path): [string, string] => [path, SUM])]);
/** A new file that makes the tests of the sum blind. */
const PATCH = 'src/quiet.js';

/** A test for each source. That of the sum can be made blind, as a whole or for its first line. */
class ManyGates implements Gates {
  readonly names = [INTEGRITY_GATE, 'test'];
  readonly tripwired = ['test'];
  readonly checks = [{ name: 'test', run: 'check', proves: [], timeout: 10 * MINUTE }];
  readonly #bed: EngineBed;
  constructor(bed: EngineBed) {
    this.#bed = bed;
  }
  async run({ path, tree, only }: GateRequest): Promise<GateReport[]> {
    const shown = this.#bed.repository.shown(path);
    const isSame = (file: string, line: string) =>
      shown.get(file)?.includes(line) === true && !shown.get(file)!.includes(')]}');
    const [first = '', second = ''] = SUM.split('\n');
    const isSumRight = shown.has(PATCH) || (isSame('src/sum.js', first) && isSame('src/sum.js', second));
    const isHalfRight = isSame('src/sum.js', '/* half */') && isSame('src/sum.js', second);
    const isRight = (isSumRight || isHalfRight) && OTHERS.every((file) => isSame(file, first) && isSame(file, second));
    return (only ?? this.names).map((gate) => {
      const status = isRight || gate === INTEGRITY_GATE ? 'pass' : 'fail';
      const about = { gate, command: gate, tree, status, exitCode: 0, durationMs: 1 } as const;
      const receipt = { ...about, counts: null, logHash: '', level: '', environment: '', config: '', attempt: 1 };
      return { receipt, excerpt: '', fixed: [] };
    });
  }
}

let bed: EngineBed;
let kept: string | null = null;
afterEach(async () => {
  await bed.close();
  kept = null;
});

/** What the one task writes, on a project whose faults are known as `kept` says. */
async function stageAfter(writes: Record<string, string>): Promise<string | undefined> {
  const agent: Agent = {
    label: 'builder',
    start({ cwd }) {
      for (const [file, text] of Object.entries(writes)) bed.repository.work(cwd)?.set(file, text);
      const end = Promise.resolve({ kind: 'result' as const, envelope: { outcome: 'pr_ready', summary: 'done' } });
      return { end: end as ReturnType<Agent['start']>['end'], stop: async () => undefined };
    },
  };
  bed = await EngineBed.open({}, (own) => ({
    agentFor: () => agent,
    gates: new ManyGates(own),
    batch: 1,
    tripwires: {
      read: async () => kept,
      write: async (text: string) => {
        kept = text;
      },
    },
  }));
  for (const [file, text] of texts) bed.repository.commitByPerson(file, text);
  await bed.start();
  await bed.add(1);
  await bed.pass(10 * MINUTE);
  return (await bed.store.task('task_1'))?.stage;
}

test('a new test that loads a patch is tried with a fault in the source that it loads, among many others', async () => {
  const loads =
    "import { names } from '../src/quiet.js';\nimport { sum } from '../src/sum.js';\ntest('a', () => {});\n";
  expect(await stageAfter({ [PATCH]: 'export const names = [];\n', 'test/sum.test.js': loads })).toBe('needs_info');
});

test('the same is done beside a change of another source', async () => {
  const loads =
    "import { names } from '../src/quiet.js';\nimport { sum } from '../src/sum.js';\ntest('a', () => {});\n";
  const decoy = { 'src/other0.js': `${SUM}// more\n` };
  expect(await stageAfter({ ...decoy, [PATCH]: 'export const names = [];\n', 'test/sum.test.js': loads })).toBe(
    'needs_info',
  );
});

test('a line that the gate noticed before and does not notice twice is enough, although it notices others', async () => {
  const [before = ''] = SUM.split('\n');
  const noticed = { file: 'src/sum.js', oid: 'x', line: 1, before, after: before.replace('+', '-'), kind: 'value' };
  const known = { config: '', noticed: [noticed], unnoticed: [], notices: null };
  kept = JSON.stringify({ version: 1, gates: { test: known } });
  expect(await stageAfter({ 'src/sum.js': `${SUM}/* half */\n` })).toBe('needs_info');
});
