import { personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GuardedEngine } from '../../../../../test/support/guarded-engine.ts';
import type { ToolCall } from '../../ports.ts';
import { decideGuard } from '../learning/guard-flow.ts';
import { ownTrace } from '../learning/own-trace.ts';

const ada = personActor('ada');
let engine: GuardedEngine;
beforeEach(async () => {
  engine = await GuardedEngine.open();
});
afterEach(() => engine.close());

const write = (file: string): ToolCall => ({ tool: 'Write', input: { file_path: file, content: 'x' } });
const bash = (command: string): ToolCall => ({ tool: 'Bash', input: { command } });
const KEY = 'generated files';
let traces = 0;

/** A person notes what the agent of a task did wrong. */
async function noted(
  number: number,
  { key = KEY, what = 'It edited src/generated/api.ts by hand.', type = 'violation' as const } = {},
) {
  const { store, clock } = engine.bed;
  traces += 1;
  const ids = { next: (kind: string) => `${kind}_${traces}` };
  const trace = await ownTrace({ store, clock, ids, hash: engine.tools.hash }, engine.tools.project, {
    ...{ type, what, correct: 'Change schema.graphql and run make types.', why: null, files: [], key, by: ada },
    task: { id: `task_${number}`, number },
  });
  await engine.bed.must({ type: 'trace.store', projectId: engine.bed.projectId, trace });
}

/** Long enough for a reactor that has something to propose. */
async function settled(): Promise<void> {
  for (let step = 0; step < 40; step += 1) {
    await engine.bed.pass(1_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('the same violation three times', () => {
  test('proposes a guard that is tested with the recorded calls; approved, it refuses the fourth try with its reason', async () => {
    for (const number of [1, 2]) {
      await engine.run(number, bash('ls'), write('src/generated/api.ts'));
      await noted(number);
    }
    for (const number of [3, 4]) await engine.run(number, bash('git status'), write(`src/part-${number}.ts`));
    await settled();
    expect(await engine.proposals()).toEqual([]);

    await engine.run(5, write('src/generated/api.ts'), bash('ls'));
    await noted(5);
    await engine.eventually(async () => expect((await engine.proposals())[0]?.status).toBe('observing'));
    const [proposal] = await engine.proposals();
    expect(proposal).toMatchObject({
      ...{ key: 'person:violation:generated files', refusedCount: 3, allowedCount: 7, traceIds: expect.any(Array) },
      proposedBy: { kind: 'engine' },
      why: '3 times the same violation: It edited src/generated/api.ts by hand.',
      refused: expect.arrayContaining([expect.objectContaining({ what: 'src/generated/api.ts', tool: 'Write' })]),
      allowed: expect.arrayContaining([expect.objectContaining({ what: 'git status' })]),
    });
    expect(proposal!.traceIds).toHaveLength(3);
    expect(await engine.run(6, write('src/generated/api.ts'))).toMatchObject({ kind: 'allow' });
    await decideGuard(engine.tools, proposal!, { decision: 'approve', why: '', by: ada });
    expect(await engine.run(7, write('src/generated/api.ts'))).toEqual({
      kind: 'deny',
      guard: proposal!.name,
      reason:
        'src/generated/api.ts is not changed here: it went wrong 3 times. Change schema.graphql and run make types.',
    });
    expect(await engine.run(8, write('src/other.ts'))).toEqual({ kind: 'allow' });
  });

  test('proposes nothing again after a person refused it, also not after more of the same and a restart', async () => {
    for (const number of [1, 2, 3]) {
      await engine.run(number, bash('npm install left-pad'));
      await noted(number, { key: 'deps', what: 'It ran npm install, which nobody approved.' });
    }
    await engine.eventually(async () => expect((await engine.proposals())[0]?.status).toBe('observing'));
    const [proposal] = await engine.proposals();
    expect(proposal!.yaml).toContain('^npm install( |$)');
    await decideGuard(engine.tools, proposal!, { decision: 'refuse', why: 'it may', by: ada });
    for (const [number, key] of [
      [4, 'deps'],
      [5, 'other'],
      [6, 'other'],
      [7, 'other'],
    ] as const) {
      await engine.run(number, bash('npm install left-pad'));
      await noted(number, { key, what: 'It ran npm install.' });
    }
    await engine.bed.stop();
    await engine.bed.start();
    await settled();
    expect(await engine.proposals()).toMatchObject([{ status: 'refused' }]);
  });

  test.each<[what: string, act: () => Promise<void>]>([
    [
      'three times in one task without other runs counts once',
      async () => {
        await engine.run(1, write('src/generated/api.ts'));
        for (let times = 0; times < 5; times += 1) await noted(1);
      },
    ],
    [
      'what is done in good runs as well is no rule',
      async () => {
        for (const number of [1, 2, 3, 4, 5, 6]) await engine.run(number, write('src/generated/api.ts'));
        for (const number of [1, 2, 3]) await noted(number);
      },
    ],
    [
      'what the traces do not name is no rule',
      async () => {
        for (const number of [1, 2, 3]) {
          await engine.run(number, write('src/generated/api.ts'));
          await noted(number, { what: 'The tests were not run.' });
        }
      },
    ],
    [
      'what would refuse everyday work or a gate is no rule',
      async () => {
        for (const number of [1, 2, 3]) {
          await engine.run(number, bash('git status'));
          await noted(number, { what: 'It ran git status.' });
        }
      },
    ],
    [
      'a call that a guard refused needs no other guard',
      async () => {
        for (const number of [1, 2, 3]) await engine.run(number, bash('git push origin main'));
      },
    ],
  ])('proposes nothing in the case: %s', async (_what, act) => {
    await act();
    await settled();
    expect(await engine.proposals()).toEqual([]);
    expect(engine.bed.notes).toEqual([]);
  });
});
