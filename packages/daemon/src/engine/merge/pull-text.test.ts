import type { Evidence, GateStatus, Task } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, receipt } from '../../../../../test/support/mill.ts';
import type { EngineDeps } from '../deps.ts';
import { checkFeedback, gateResults, pullBody, pullTitle } from './pull-text.ts';

const REPOSITORY = 'acme/mill';
const evidence = (
  gate: string,
  position: number,
  status: GateStatus = 'pass',
  more: Partial<Evidence> = {},
): Evidence => ({
  ...receipt(gate, 'tree', status),
  ...{ id: `${gate}${position}`, projectId: 'project_1', taskId: 'task_1', position, at: position },
  ...{ prev: '', hash: `${gate}-hash-of-${position}`, ...more },
});
function depsWith(links: Evidence[], runs: unknown[] = []): EngineDeps {
  const store = { evidenceForTree: async () => links, runs: async () => runs };
  return {
    store,
    gates: { names: ['lint', 'test'] },
    project: { id: 'project_1', rules: {} },
  } as unknown as EngineDeps;
}
const mill = new Mill();
const blank = mill.task(mill.add({ title: 'Say bye' }));
const task = (fields: Partial<Task> = {}): Task => ({ ...blank, ...fields });
const body = (fields: Partial<Task> = {}, links = [evidence('lint', 1), evidence('test', 2)], runs: unknown[] = []) =>
  pullBody(depsWith(links, runs), task(fields), { tree: 'tree', repository: REPOSITORY, notes: ['a note'] });
const said = (source: 'agent' | 'reviewer', summary: string, entryType = 'result') =>
  ({ source, entryType, summary, at: 1 }) as unknown as Task['context'][number];

describe('the text of a pull request', () => {
  test('has the parts that a person needs, in order, and the marker by which it is found', async () => {
    const context = [said('agent', 'the plan', 'plan_summary'), said('agent', 'built it'), said('reviewer', 'fine')];
    const origin = { key: 'github:Acme/Mill#12' } as Task['origin'];
    const runs = [{ usage: { costUsd: 0.5 } }, { usage: { costUsd: null } }, { usage: null }];
    const text = await body({ context, origin }, undefined, runs);
    expect(text.split('\n\n')).toEqual([
      'built it',
      'Closes #12',
      '### Acceptance criteria\n- [ ] it works',
      '### Evidence\n| gate | result | command |\n|---|---|---|\n| lint | pass | `run lint` |\n| test | pass | `run test` |',
      'Tree `tree`, evidence `test-hash-of-2`.',
      '### Review\nfine',
      '### Cost\n3 runs, 0.50 USD.',
      '> a note',
      'Task #1 of Tidemill. Comments of people with push access go back to the agent.',
      '<!-- tidemill:task_1 -->',
    ]);
  });

  test.each([
    ['an issue of another repository', 'github:acme/other#12'],
    ['an item of another tracker', 'file:12'],
  ])('does not close %s', async (_what, key) => {
    expect(await body({ origin: { key } as Task['origin'] })).not.toContain('Closes');
  });

  test('of an agent notifies nobody, closes nothing and has no heading', async () => {
    const text = await body({ context: [said('agent', '# Title\n@ada fixes #7 <b>\n---')] });
    expect(text).toMatch(/^\\# Title\n@\u2060ada fixes\u2060 #\u20607 &lt;b>\n\\---\n/);
    expect(pullTitle(task({ title: `@ada ${'x'.repeat(300)}` }))).toHaveLength(250);
  });

  test('leaves out what is missing, and cuts what is long', async () => {
    const text = await body({ criteria: [], context: [said('agent', 'x'.repeat(9_000))] }, undefined, [
      { usage: null },
    ]);
    expect(text).toContain('### Cost\n1 run, 0.00 USD.');
    expect(text).not.toMatch(/Acceptance|Review/);
    expect(text.split('\n\n')[0]).toBe('x'.repeat(4_000));
  });

  test('has as many criteria as fit, and counts the others', async () => {
    const long = { id: 'C', text: 'yes '.repeat(500), met: true, evidence: 'seen' };
    const text = await body({ criteria: Array.from({ length: 30 }, () => long) });
    expect(text.match(/^- \[x\] (?:yes ){250}$/gm)).toHaveLength(19);
    expect(text).toContain('- and 11 more, which Tidemill shows');
    expect(await body({ criteria: [{ ...long, text: 'short' }] })).toContain('- [x] short: seen');
  });

  test('shows the newest receipt of each gate, with counts, and that one is missing', async () => {
    const counts = { passed: 3, failed: 1, skipped: 0 };
    const links = [evidence('test', 5, 'fail', { counts, command: 'a | b `c`' }), evidence('test', 4)];
    const text = await body({}, links);
    expect(text).toContain("| lint | missing |  |\n| test | fail, 3 passed, 1 failed | `a \\| b 'c'` |");
    expect(text).toContain('evidence `test-hash-of-5`');
  });
});

describe('a gate at the forge', () => {
  test('is pending until it has run, and then says how it went', async () => {
    const counts = { passed: 3, failed: 0, skipped: 0 };
    const shown = async (...links: Evidence[]) => gateResults(depsWith(links), 'tree');
    expect(await shown(evidence('test', 1, 'pass', { counts, durationMs: 1_250 }))).toEqual([
      { gate: 'lint', state: 'pending', text: 'not run yet' },
      { gate: 'test', state: 'passed', text: 'pass, 3 passed, 0 failed, 1.3 s, evidence test-hash-of' },
    ]);
    expect((await shown(evidence('test', 1, 'fail')))[1]).toMatchObject({ state: 'failed' });
    expect((await shown(evidence('test', 1, 'unverified')))[1]).toMatchObject({ state: 'failed' });
  });
});

describe('a check that failed on GitHub', () => {
  const feedback = (summary: string, url: string | null) =>
    checkFeedback([{ name: 'ci', state: 'failed', summary, url }])[0];

  test('is told to the agent with its address and the end of its output', () => {
    expect(feedback('', null)).toEqual({ kind: 'gate', text: 'The check ci on GitHub failed.', files: [] });
    expect(feedback('1 != 2', 'https://x')?.text).toBe('The check ci on GitHub failed. https://x\nIts output:\n1 != 2');
    expect(feedback(`${'a'.repeat(5_000)}the end`, null)?.text).toBe(
      `The check ci on GitHub failed.\nIts output:\n${'a'.repeat(3_993)}the end`,
    );
  });
});
