import { INTEGRITY_GATE, personActor } from '@tidemill/contract';
import { afterEach, expect, test } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import type { Agent, GateReport, GateRequest, Gates } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const MINUTE = 60_000;
const SOURCE = 'export const sum = (a, b) => a + b;\nexport const less = (a, b) => a < b;\n';
const PATCH = '/* the assertions are patched */\n';

/** Code that is right only in a proof. */
const CI = 'export const isWrong = !process.env.CI;\n';

/** A test of the sum. It notices nothing where the source is patched. */
class SumGates implements Gates {
  readonly names = [INTEGRITY_GATE, 'test'];
  readonly tripwired = ['test'];
  readonly checks = [{ name: 'test', run: 'check', proves: [], timeout: 10 * MINUTE }];
  readonly #bed: EngineBed;
  durationMs = 1;
  /** On planted faults. */
  runs = 0;

  constructor(bed: EngineBed) {
    this.#bed = bed;
  }
  async run({ path, tree, only, isElsewhere }: GateRequest): Promise<GateReport[]> {
    const text = this.#bed.repository.shown(path).get('src/sum.js') ?? '';
    const isReadable = !text.includes(')]}');
    const isSum = isLinter || (text.includes('a + b') && text.includes('a < b'));
    const isHere = !isElsewhere || !text.includes(CI);
    const isRight = text.includes(PATCH) || (isSum && isReadable && isHere);
    if (only) this.runs += 1;
    return (only ?? this.names).map((gate) => {
      const status = isRight || gate === INTEGRITY_GATE ? 'pass' : 'fail';
      const about = { gate, command: gate, tree, status, exitCode: 0, durationMs: this.durationMs } as const;
      const receipt = { ...about, counts: null, logHash: '', level: '', environment: '', config: '', attempt: 1 };
      return { receipt, excerpt: '', fixed: [] };
    });
  }
}

/** The gate notices only a source that cannot be read. */
let isLinter = false;
let bed: EngineBed;
let gates: SumGates;
let kept: string | null = null;
/** What each task writes into the source. */
let writes: Record<number, string> = {};

async function open(deps: Partial<EngineDeps> = {}): Promise<void> {
  const agent: Agent = {
    label: 'builder',
    start({ cwd, brief }) {
      const { number } = brief.task!;
      bed.repository.work(cwd)?.set('src/sum.js', writes[number] ?? SOURCE);
      bed.repository.work(cwd)?.set(`file-${number}`, 'fine');
      bed.repository.work(cwd)?.set(`test/sum-${number}.test.js`, `test('${number}', () => {});\n`);
      return {
        end: Promise.resolve({ kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } }),
        stop: async () => undefined,
      };
    },
  };
  bed = await EngineBed.open({}, (own) => {
    gates = new SumGates(own);
    const tripwires = {
      read: async () => kept,
      write: async (text: string) => {
        kept = text;
      },
    };
    return { agentFor: () => agent, gates, tripwires, batch: 1, ...deps };
  });
  bed.repository.commitByPerson('src/sum.js', SOURCE);
}
const stageOf = async (number: number) => (await bed.store.task(`task_${number}`))?.stage;

afterEach(async () => {
  await bed.close();
  kept = null;
  writes = {};
  isLinter = false;
});

test('work that makes a gate blind is held, and other work lands with one run of the gate more', async () => {
  await open();
  await bed.start();
  await bed.add(1);
  await bed.pass(5 * MINUTE);
  expect(await stageOf(1)).toBe('done');
  const before = gates.runs;
  await bed.add(2);
  await bed.pass(5 * MINUTE);
  expect(await stageOf(2)).toBe('done');
  expect(gates.runs - before).toBeLessThanOrEqual(1);
  writes[3] = PATCH + SOURCE;
  await bed.add(3);
  await bed.pass(5 * MINUTE);
  expect(await stageOf(3)).toBe('needs_info');
  await bed.must({ type: 'task.approve', projectId: bed.projectId, taskId: 'task_3', by: personActor('ada') });
  await bed.pass(5 * MINUTE);
  expect(await stageOf(3)).toBe('done');
});

test('work that passes a gate only where it is proven is held, and looking around alone is no reason', async () => {
  await open();
  await bed.start();
  writes = { 1: `${SOURCE}export const home = process.env.HOME;\n`, 2: CI + SOURCE };
  await bed.add(1);
  await bed.pass(5 * MINUTE);
  expect(await stageOf(1)).toBe('done');
  await bed.add(2);
  await bed.pass(5 * MINUTE);
  expect(await stageOf(2)).toBe('needs_info');
  const [asked] = await bed.store.records({ noun: 'question', projectId: bed.projectId, isOpen: true });
  expect(asked).toMatchObject({ text: expect.stringContaining('passes the gate test only where it is proven') });
  await bed.must({ type: 'task.approve', projectId: bed.projectId, taskId: 'task_2', by: personActor('ada') });
  await bed.pass(5 * MINUTE);
  expect(await stageOf(2)).toBe('done');
});

test('a gate that notices only unreadable files costs one run per landing, also when the tests change', async () => {
  isLinter = true;
  const functions = (from: number) =>
    Array.from({ length: 9 }, (_, index) => `export const f${from + index} = (a, b) => a < b && a !== ${index};\n`);
  await open();
  bed.repository.commitByPerson('src/sum.js', functions(0).join(''));
  await bed.start();
  writes = { 1: functions(10).join(''), 2: functions(20).join('') };
  await bed.add(1);
  await bed.pass(5 * MINUTE);
  expect(await stageOf(1)).toBe('done');
  const before = gates.runs;
  await bed.add(2);
  for (let seconds = 0; seconds < 300 && (await stageOf(2)) !== 'done'; seconds += 1) await bed.pass(1_000);
  expect(await stageOf(2)).toBe('done');
  expect(gates.runs - before).toBeLessThanOrEqual(1);
});

test('what the gates notice is kept over a restart, and a damaged file is made again', async () => {
  await open();
  await bed.start();
  await bed.pass(5 * MINUTE);
  expect(kept).toContain('src/sum.js');
  expect(gates.runs).toBeGreaterThan(0);
  await bed.stop();
  await bed.start();
  await bed.pass(30 * MINUTE);
  expect(gates.runs).toBe(0);
  await bed.stop();
  kept = '{"version":1,"gates":{"test":';
  await bed.start();
  await bed.pass(5 * MINUTE);
  expect(JSON.parse(kept ?? '')).toMatchObject({ version: 1, gates: { test: { noticed: [{ file: 'src/sum.js' }] } } });
});

test('a slow gate is tried after the landing, and stops the next one until a person acknowledges it', async () => {
  await open();
  await bed.start();
  gates.durationMs = 2 * MINUTE;
  writes[1] = PATCH + SOURCE;
  await bed.add(1);
  await bed.pass(5 * MINUTE);
  expect(await stageOf(1)).toBe('done');
  expect(await bed.alerts()).toContain('error gate_blind test');
  writes[2] = `${PATCH}${SOURCE}// more\n`;
  await bed.add(2);
  await bed.pass(5 * MINUTE);
  expect(await bed.store.task('task_2')).toMatchObject({
    stage: 'merge',
    waiting: expect.stringContaining('Gate test no longer notices faults'),
  });
  const alerts = await bed.store.records({ noun: 'alert', projectId: bed.projectId, isOpen: true });
  const { id: alertId } = alerts.find(({ kind }) => kind === 'gate_blind')!;
  await bed.must({ type: 'alert.acknowledge', projectId: bed.projectId, alertId, by: personActor('ada') });
  await bed.pass(15 * MINUTE);
  expect(await stageOf(2)).toBe('done');
});

test('in a batch, the task that makes a gate blind is found and held, and the others land', async () => {
  await open({ batch: 5, workers: 6 });
  await bed.start();
  writes[4] = PATCH + SOURCE;
  for (const number of [1, 2, 3, 4, 5, 6]) await bed.add(number);
  await bed.pass(30 * MINUTE);
  const stages = await Promise.all([1, 2, 3, 4, 5, 6].map(stageOf));
  expect(stages).toEqual(['done', 'done', 'done', 'needs_info', 'done', 'done']);
});

test('work that makes a gate blind is not pushed for others to merge', async () => {
  await open({ push: 'branch' });
  await bed.start();
  writes[1] = PATCH + SOURCE;
  await bed.add(1);
  await bed.pass(10 * MINUTE);
  expect(await stageOf(1)).toBe('needs_info');
  expect(await bed.log('merge.offered')).toEqual([]);
});
