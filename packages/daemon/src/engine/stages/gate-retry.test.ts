import { INTEGRITY_GATE } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { receipt } from '../../../../../test/support/mill.ts';
import type { GateReport, GateRequest, Gates } from '../../ports.ts';
import { latest, runWithRetry } from './gate-retry.ts';

type Ends = Record<string, 'pass' | 'fail' | 'unverified'>;

/** Gates whose runs end like this, one after the other, and what each run was asked for. */
function gatesThat(...ends: Ends[]) {
  const asked: GateRequest[] = [];
  const run = async (request: GateRequest): Promise<GateReport[]> => {
    const names = Object.entries(ends[asked.push(request) - 1] ?? {});
    return names.map(([gate, end]) => ({ receipt: receipt(gate, 'T1', end), excerpt: '', fixed: [] }));
  };
  return { asked, gates: { names: [INTEGRITY_GATE, 'lint', 'types', 'test'], run } as unknown as Gates };
}
const request = { signal: new AbortController().signal, own: [{ name: 'own', run: 'true' }] } as unknown as GateRequest;
const resultsOf = (reports: GateReport[]) => reports.map(({ receipt: { gate, status } }) => `${gate} ${status}`);

describe('the second try of gates', () => {
  test('has those that failed and those that did not run, and none that passed', async () => {
    const { asked, gates } = gatesThat(
      { [INTEGRITY_GATE]: 'pass', lint: 'pass', types: 'fail', own: 'pass' },
      { types: 'pass', test: 'pass' },
    );
    const reports = await runWithRetry(gates, request);
    expect(asked.map(({ only, again }) => ({ only, again }))).toEqual([
      { only: undefined, again: undefined },
      { only: ['types', 'test'], again: ['types'] },
    ]);
    expect(resultsOf(latest(reports))).toEqual([
      `${INTEGRITY_GATE} pass`,
      'lint pass',
      'types pass',
      'own pass',
      'test pass',
    ]);
  });

  test('has the gates of the task itself, too', async () => {
    const { asked, gates } = gatesThat({ lint: 'pass', types: 'pass', test: 'pass', own: 'fail' }, { own: 'fail' });
    await runWithRetry(gates, request);
    expect(asked[1]).toMatchObject({ only: ['own'], again: ['own'] });
  });

  test('begins from a clean start', async () => {
    const done: string[] = [];
    const { gates } = gatesThat({ lint: 'fail' }, { lint: 'pass' });
    const run: Gates['run'] = (each) => {
      done.push('run');
      return gates.run(each);
    };
    const reset = async () => void done.push('reset');
    await runWithRetry({ ...gates, run }, { ...request, reset });
    expect(done).toEqual(['run', 'reset', 'run']);
  });

  test.each([
    ['nothing failed', { lint: 'pass', types: 'unverified' }],
    ['only integrity failed, which depends on the files alone', { [INTEGRITY_GATE]: 'fail' }],
  ] as [string, Ends][])('does not happen when %s', async (_why, ends) => {
    const { asked, gates } = gatesThat(ends);
    await runWithRetry(gates, request);
    expect(asked).toHaveLength(1);
  });

  test('does not happen when the work was told to stop meanwhile', async () => {
    const { asked, gates } = gatesThat({ lint: 'fail' }, { lint: 'pass' });
    const reports = await runWithRetry(gates, { ...request, signal: AbortSignal.abort() });
    expect(asked).toHaveLength(1);
    expect(resultsOf(reports)).toEqual(['lint fail']);
  });
});
