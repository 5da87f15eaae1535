import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxItem, ProposalView, TaskDetail } from '@tidemill/contract';
import { afterAll, describe, expect, test } from 'vitest';
import { LoopHome } from '../support/loop-home.ts';

const MINUTE = 60_000;
const bed = new LoopHome();
const { machine, root, loop, proposals } = bed;
afterAll(() => bed.close());

describe('the loop, by command line only', () => {
  test('an empty queue gives three proposals; one is approved and lands, one is refused and never comes back', {
    timeout: 3 * MINUTE,
  }, async () => {
    await machine.up(root);
    expect(await loop()).toMatchObject({ isOn: false, text: 'off, by the settings', queue: { depth: 0 } });
    const switched = await machine.run(['loop', 'on'], root);
    expect(switched.stdout).toContain('The loop is on.');
    await machine.event('proposal.checked', ({ number }) => number === 3);

    const view = await loop();
    expect(view).toMatchObject({ isOn: true, queue: { depth: 3, min: 3, max: 10 }, approval: 'requires_approval' });
    expect(view.waiting.map(({ number, category }) => [number, category])).toEqual([
      [1, 'code-quality'],
      [2, 'testing'],
      [3, 'technical-debt'],
    ]);
    const inbox = await machine.json<InboxItem[]>(['inbox'], root);
    expect(inbox.find(({ ref }) => ref === 'p1')).toMatchObject({
      kind: 'approval',
      command: 'tidemill loop approve 1',
    });

    const approved = await machine.json<ProposalView>(['loop', 'approve', '1'], root);
    expect(approved).toMatchObject({ status: 'accepted', task: { number: 1, title: 'Name the greeting once' } });
    const twice = await machine.run(['loop', 'approve', '1'], root);
    expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('proposal 1 is already approved') });
    await machine.event('proposal.ended', ({ number, outcome }) => number === 1 && outcome === 'landed');
    expect(readFileSync(join(root, 'greet.js'), 'utf8')).toContain('n.trim()');
    const { task } = await machine.json<TaskDetail>(['task', 'show', '1'], root);
    expect(task).toMatchObject({
      stage: 'done',
      kind: 'improvement',
      origin: { kind: 'loop', category: 'code-quality' },
    });

    const refused = await machine.run(['loop', 'refuse', 'p2', '--why', 'we test this elsewhere'], root);
    expect(refused.stdout).toContain('Proposal 2 is refused.');
    expect(await machine.json<ProposalView>(['loop', 'score', '3', '9'], root)).toMatchObject({ score: 9 });
    await machine.event(
      'proposal.checked',
      ({ verdict, why }) => verdict === 'duplicate' && why.includes('proposal 2'),
    );
    await machine.event('category.rested', ({ category }) => category === 'error-handling');

    // Meanwhile the first categories have their turn again.
    const all = (await proposals()).filter(({ number }) => number >= 1 && number <= 4);
    expect(all.map(({ number, status, outcome }) => [number, status, outcome])).toEqual([
      [4, 'duplicate', null],
      [3, 'waiting', null],
      [2, 'refused', null],
      [1, 'accepted', 'landed'],
    ]);
    const categories = await machine.run(['loop', 'categories'], root);
    expect(categories.stdout).toMatch(/error-handling\s+resting/);
    expect(categories.stdout).toMatch(/code-quality\s+\w+.*\d\/1\/1\/0\s+0\.3/);
    expect(categories.stdout).toMatch(/security\s+later/);

    for (const [args, message] of [
      [['loop', 'approve', '99'], 'there is no proposal P99'],
      [['loop', 'score', '3', '11'], 'whole number from 0 to 10'],
      [['loop', 'refuse', '3'], '--why'],
      [['loop', 'refuse', '3', '--why', ' '], 'says why'],
    ] as const)
      expect(await machine.run([...args], root)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});
