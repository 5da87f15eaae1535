import { afterEach, describe, expect, it } from 'vitest';
import {
  bed,
  bodies,
  briefs,
  by,
  gates,
  landed,
  MINUTE,
  open,
  SECOND,
  stages,
  waiting,
} from '../../../../../test/support/merge-bed.ts';

afterEach(() => bed.close());

describe('tasks that wait to be merged', { timeout: 60_000 }, () => {
  it('are proven as one tree and land together, one commit each, with the evidence of that tree', async () => {
    await open();
    await waiting(6);
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(Array(6).fill('done'));
    // The first is proven on the target already. The others need one run of the gates.
    expect(gates.runs).toEqual(['1 2 3 4 5 6']);
    expect(landed()).toEqual([1, 2, 3, 4, 5, 6]);
    const prepared = await bodies('merge.prepared');
    expect(new Set(prepared.slice(1).map(({ lands, commit }) => lands ?? commit)).size).toBe(1);
    expect(prepared.map(({ evidence }) => evidence.length)).toEqual(Array(6).fill(2));
    // Nothing was tried with a lease that had ended.
    expect(bed.notes).toEqual([]);
  });

  it('land one at a time with a batch of one', async () => {
    await open({ deps: { batch: 1 } });
    await waiting(4);
    await bed.pass(5 * MINUTE);
    expect(gates.runs).toEqual(['1 2', '1 2 3', '1 2 3 4']);
  });

  it('of ten, two fail only together: the later one goes back with the target merged in, the rest lands', async () => {
    await open({ words: { 3: 'ebb', 8: 'flood' } });
    await waiting(10);
    await bed.pass(10 * MINUTE);
    expect(await stages()).toEqual(Array(10).fill('done'));
    expect(landed().toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(landed().at(-1)).toBe(8);
    const again = briefs.filter(({ feedback }) => feedback.length > 0);
    expect(again.map(({ task }) => task!.number)).toEqual([8]);
    expect(again[0]!.feedback[0]).toMatchObject({
      text: expect.stringContaining(
        'together with the newest main it fails test. main is now merged into your worktree',
      ),
    });
    // Fewer runs than one at a time: batches 2 to 6 and 7 to 10, the search in the second, then the rework.
    expect(gates.runs.length).toBeLessThanOrEqual(8);
  });

  it('of which one breaks what a later one mends land together, and the record says what proves each commit', async () => {
    await open({ words: { 2: 'ebb', 3: 'flood', 4: 'slack' } });
    await waiting(4);
    await bed.pass(10 * MINUTE);
    expect(landed()).toEqual([1, 2, 3, 4]);
    expect(gates.runs).toEqual(['1 2 3 4']);
    const prepared = await bodies('merge.prepared');
    const isAlone = prepared.map(({ tree, proven = tree }) => proven === tree);
    expect(isAlone).toEqual([true, false, false, true]);
  });

  it('and must each be proven send the one back that breaks what a later one would mend', async () => {
    await open({ words: { 2: 'ebb', 3: 'flood', 4: 'slack' }, deps: { provesEach: true } });
    await waiting(4);
    await bed.pass(10 * MINUTE);
    expect(await stages()).toEqual(Array(4).fill('done'));
    const again = briefs.filter(({ feedback }) => feedback.length > 0);
    expect(again.map(({ task }) => task!.number)).toEqual([3]);
    const prepared = await bodies('merge.prepared');
    expect(prepared.map(({ tree, proven = tree }) => proven === tree)).toEqual([true, true, true, true]);
  });

  it('whose worktree is behind get the target before their agent starts', async () => {
    await open({ words: { 1: 'ebb', 2: 'flood' } });
    await waiting(2);
    await bed.pass(5 * MINUTE);
    const [rework] = briefs.filter(({ feedback }) => feedback.length > 0);
    expect(rework!.task!.number).toBe(2);
    expect(landed()).toEqual([1, 2]);
    // The agent of the second one saw the file of the first: gates ran on both before it was handed in.
    expect(gates.runs).toContain('1 2');
  });

  it('a gate that fails and passes on the same tree is a flake: recorded, and nobody is sent back', async () => {
    await open();
    await waiting(5);
    gates.flakes = 1;
    await bed.pass(10 * MINUTE);
    expect(await stages()).toEqual(Array(5).fill('done'));
    expect(briefs.filter(({ feedback }) => feedback.length > 0)).toEqual([]);
    const attempts = (await bodies('evidence.recorded')).filter(({ evidence }) => evidence.gate === 'test');
    expect(attempts.some(({ evidence }) => evidence.attempt === 2 && evidence.status === 'pass')).toBe(true);
    expect(await bed.alerts()).toContain('warning flaky_gate test');
  });

  it('with a gate that fails one time in five, land only what has passed, and every flake is on record', async () => {
    await open();
    gates.rate = 0.2;
    for (let number = 1; number <= 20; number += 1) await bed.add(number);
    await bed.pass(60 * MINUTE);
    const all = await stages();
    // Two failures in a row are one time in 25: such a task is handed to a person.
    expect(all.filter((stage) => stage === 'done').length).toBeGreaterThanOrEqual(15);
    expect(new Set(all).isSubsetOf(new Set(['done', 'blocked', 'needs_info']))).toBe(true);
    const links = (await bodies('evidence.recorded')).map(({ evidence }) => evidence);
    const newest = new Map(links.map((link) => [`${link.tree} ${link.gate}`, link]));
    const prepared = await bodies('merge.prepared');
    expect(prepared.length).toBeGreaterThanOrEqual(15);
    for (const { tree, proven = tree } of prepared) expect(newest.get(`${proven} test`)?.status).toBe('pass');
    const flakes = links.filter(({ attempt, status }) => attempt === 2 && status === 'pass');
    expect(flakes.length).toBeGreaterThan(0);
    for (const flake of flakes)
      expect(
        links.some(
          ({ tree, status, position }) => tree === flake.tree && status === 'fail' && position < flake.position,
        ),
      ).toBe(true);
  });

  it('that are cancelled while the batch is proven do not land, and the others do', async () => {
    await open();
    await waiting(4);
    await bed.pass(5 * SECOND);
    await bed.must({ type: 'task.cancel', projectId: bed.projectId, taskId: 'task_3', by });
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(['done', 'done', 'cancelled', 'done']);
    expect(landed()).toEqual([1, 2, 4]);
  });

  it('wait while the target itself is red, and nobody is sent back', async () => {
    await open();
    await waiting(3);
    bed.repository.commitByPerson('theirs', 'bug');
    await bed.pass(5 * MINUTE);
    expect(landed()).toEqual([]);
    expect(briefs.filter(({ feedback }) => feedback.length > 0)).toEqual([]);
    expect(await bed.alerts()).toContain('error baseline_red test');
    bed.repository.commitByPerson('theirs', 'mended');
    await bed.pass(20 * MINUTE);
    expect(await stages()).toEqual(Array(3).fill('done'));
  });
});
