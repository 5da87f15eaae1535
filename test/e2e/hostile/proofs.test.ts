import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProofBed } from '../../support/hostile/proof-bed.ts';

const MINUTE = 60_000;
const bed = new ProofBed();
const { machine } = bed;
beforeAll(() => bed.open(), MINUTE);
afterAll(() => bed.close());

describe('a proof', { timeout: 2 * MINUTE }, () => {
  test('made with another command is not evidence', async () => {
    // The settings are not tracked, so the target does not move and its tree stays the proven one.
    const mine = await bed.repository(
      `gates:
  - { name: test, run: "true" }
`,
      'echo x > a.txt',
      { '.gitignore': '.tidemill/\n' },
    );
    await mine.save({
      '.tidemill/pipelines/slow.yaml': `name: slow
start: write
stages:
  write: { actor: agent, mode: implement, on: { pr_ready: check, no_changes: blocked } }
  check: { actor: system, does: verify, on: { approved: look, failed: write } }
  look: { actor: human, on: { approved: land, changes_requested: write } }
  land: { actor: system, does: merge, on: { approved: done, failed: write, conflicts_detected: write } }
`,
    });
    await mine.start();
    await mine.add('work', { pipeline: 'slow' });
    const { seq } = await mine.event('task.moved', ({ to }) => to === 'look');
    const file = join(mine.root, '.tidemill/config.yaml');
    await writeFile(file, readFileSync(file, 'utf8').replace('"true"', '"test ! -f a.txt"'));
    await mine.event('project.configured', () => true, seq);
    await mine.api.approveTask({ project: mine.project, task: '1' });
    const { body } = await mine.event('task.moved', ({ from }) => from === 'land');
    expect(body).toMatchObject({ to: 'write' });
    expect(await machine.git(mine.root, 'rev-list', '--count', '--grep=^Task:', 'main')).toBe('0');
  });

  test('is not repeated for the same code: the agent gets one message, then a person is asked', async () => {
    const mine = await bed.repository(`gates:\n  - { name: test, run: "! grep -q BAD *.txt" }\n`, 'echo BAD > a.txt', {
      'b.txt': '\n',
    });
    await mine.start();
    await mine.add('work');
    await mine.event('task.blocked');
    expect(await mine.task(1)).toMatchObject({ stage: 'blocked', blocked: { reason: 'no_progress' } });
    expect((await mine.evidence()).filter(({ gate }) => gate === 'test')).toHaveLength(2);
  });
});

describe('the environment of a gate', { timeout: 2 * MINUTE }, () => {
  test('lets a gate fail on the target too: no task starts, a repair task can land, then the others', async () => {
    const mine = await bed.repository(
      `gates:
  - { name: test, run: "! grep -q BROKEN b.txt" }
`,
      // The first attempt does not repair it, so it is sent back as for any other gate.
      'if grep -q fine b.txt; then echo x >> a.txt; elif [ -f tried.txt ]; then echo fine > b.txt; else echo x > tried.txt; fi',
      { 'b.txt': 'BROKEN\n' },
    );
    await mine.start();
    await mine.add('work');
    await mine.event('alert.raised', ({ kind }) => kind === 'baseline_red');
    const [told, ...others] = await mine.alerts();
    expect(others).toEqual([]);
    expect(told?.text).toMatch(/main itself fails test.*--repairs test/s);
    expect((await mine.detail(1)).runs).toEqual([]);
    await expect(mine.add('repair', { repairs: ['tests'] })).rejects.toThrow('no gate "tests"');
    await mine.add('repair', { repairs: ['test'], priority: 0 });
    await mine.arrives('repair', 'done');
    await mine.arrives('work', 'done');
  });
});
