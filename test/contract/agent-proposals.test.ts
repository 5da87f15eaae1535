import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acpStarter, fake } from './acp-bench.ts';
import { AgentBench } from './agent-bench.ts';

const proposal = (effortHours: number) => ({
  title: 'Cache compiled templates',
  description: 'Every request compiles the template again.',
  criteria: ['A second request compiles nothing', 'A changed template is compiled again', 'At most 100 are kept'],
  effortHours,
});
const says = (effortHours: number) => ({
  say: JSON.stringify({ outcome: 'proposed', summary: 's', proposal: proposal(effortHours) }),
});

describe('a proposal of more than eight hours', () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await AgentBench.open('off');
  });
  afterEach(() => bench.close());
  const start = (...turns: object[][]) => {
    const { brief } = bench.request({});
    return acpStarter(
      bench,
      fake({ turns: turns as Record<string, unknown>[][] }),
    )({ brief: { ...brief, mode: 'propose' } });
  };

  test('is refused, and the agent is asked once more with the limit', async () => {
    const trial = start([says(9)], [{ echo: true }, says(8)]);
    expect(await trial.end).toMatchObject({ kind: 'result', envelope: { proposal: { effortHours: 8 } } });
    expect(trial.output()).toContain('is at most 8: propose a smaller part that is useful by itself');
  });

  test('is no result when it is proposed again', async () => {
    expect(await start([says(9)]).end).toMatchObject({ kind: 'failed', failure: 'invalid_result' });
  });
});
