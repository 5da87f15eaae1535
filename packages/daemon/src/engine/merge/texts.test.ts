import type { Task } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill } from '../../../../../test/support/mill.ts';
import type { EngineDeps } from '../deps.ts';
import type { BlindGate } from '../tripwire/planting.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { landingMessage } from './land.ts';
import { sendBackWithTarget } from './send-back.ts';
import { holdBlind } from './tripwire.ts';

const mill = new Mill();
const task: Task = mill.task(mill.add({ title: 'Say bye' }));
const deps = {
  project: { rules: { target: 'main' } },
  workspace: { changeIn: async () => 'change' },
  hash: (text: string) => text,
} as unknown as EngineDeps;

/** A lease that keeps what it is told to execute. */
function lease() {
  const told: Record<string, unknown>[] = [];
  const must = async (command: Record<string, unknown>) => void told.push(command);
  return { told, leased: { task, ref: { branch: 'task/1' }, must } as unknown as LeasedTask };
}

describe('the message of a landing', () => {
  const entry = { runId: null, source: 'agent', entryType: 'result', summary: 'It says bye.', at: 1 } as const;
  test.each([
    ['the words of the agent', { ...entry, said: 'I added bye.' }, 'I added bye.'],
    ['its summary, where no words were kept', entry, 'It says bye.'],
  ])('has the title, %s and the trailers', (_what, built, words) => {
    const message = landingMessage({ ...task, context: [built] }, 'abc');
    expect(message).toBe(`Say bye\n\n${words}\n\nTask: #1\nEvidence: abc`);
  });
});

describe('work that fails only with the newest target', () => {
  const proof = { kind: 'failed', gates: ['test'], feedback: [] } as never;
  test('goes back with the names of what landed just before it', async () => {
    const { told, leased } = lease();
    const other = { task: { ...task, number: 7, title: 'Say hi' } } as LeasedTask;
    await sendBackWithTarget(deps, leased, proof, [other]);
    expect(JSON.stringify(told)).toContain('Just landed before it: #7 Say hi.');
  });

  test('goes back without such a sentence when nothing did', async () => {
    const { told, leased } = lease();
    await sendBackWithTarget(deps, leased, proof, []);
    expect(JSON.stringify(told)).not.toContain('Just landed');
  });
});

const MISSES = 'changes assertions or ends the tests';
const ASKS = 'asks where it runs';
test.each([
  [{ test: false }, 'the gate test no longer notices faults', MISSES],
  [{ lint: false, test: false }, 'the gates lint, test no longer notice faults', MISSES],
  [{ lint: true, test: true }, 'this work passes the gates lint, test only where it is proven', ASKS],
  [{ lint: true, test: false }, 'the gates lint, test no longer notice faults', MISSES],
])('a person is asked about work that gates do not see, in words that fit them: %j', async (gates, words, look) => {
  const { told, leased } = lease();
  const blind = Object.entries(gates).map(
    ([gate, isElsewhere]) => ({ gate, mutants: [], ...(isElsewhere ? { isElsewhere } : {}) }) as BlindGate,
  );
  await holdBlind(deps, { member: leased, files: [] }, blind);
  expect(told).toMatchObject([
    { type: 'merge.ask', text: expect.stringContaining(words), approves: expect.stringContaining(look) },
  ]);
});
