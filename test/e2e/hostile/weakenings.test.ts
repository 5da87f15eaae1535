import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  HONEST,
  TEST,
  testHonestWork,
  testWeakenings,
  WEAKENINGS,
  WeakeningBed,
  weaker,
} from '../../support/hostile/weakening-bed.ts';

const MINUTE = 60_000;
/** One of each family; the long tests have all of them. */
const FAMILIES = [
  'weakens a test',
  'deletes a test',
  'tests with true',
  'empties the script of a gate',
  'ends tests from the source',
  'adds an .npmrc',
  'empties the cases of a gate',
  'adds the file that switches a gate off',
];

const bed = new WeakeningBed();
beforeAll(() => bed.open(), 2 * MINUTE);
afterAll(() => bed.close());

describe('a change to what gates check, without a review', () => {
  testWeakenings(
    bed,
    WEAKENINGS.filter(([name]) => FAMILIES.includes(name)),
  );

  test('is approved or sent back by a person, on the command line', { timeout: 2 * MINUTE }, async () => {
    const [weakens, deletes] = [bed.tasks.get('adds an .npmrc')!, bed.tasks.get('deletes a test')!];
    const shown = await bed.machine.run(['questions', 'show', `Q${weakens.number}.1`], bed.repository.root);
    expect(shown.stdout).toContain('.npmrc');
    expect(shown.stdout).toContain(`tidemill task approve ${weakens.number}`);
    await bed.machine.json(['task', 'approve', String(weakens.number)], bed.repository.root);
    await bed.landed(weakens.id);
    expect(bed.onMain('.npmrc')).toContain('script-shell');
    await bed.machine.json(['task', 'reject', String(deletes.number), '--note', 'do it honestly'], bed.repository.root);
    await bed.landed(deletes.id);
    expect(`${bed.onMain('test/sum.test.js')}\n`).toBe(TEST);
  });

  test('is also held when it comes from a worker outside the daemon', { timeout: 2 * MINUTE }, async () => {
    const own = ['agent-1', 'agent-2', 'agent-3'];
    for (const worker of own) await bed.api.steerWorkers({ project: bed.project, worker, operation: 'pause' });
    const { id } = await bed.add('outside', {});
    const claim = (await bed.api.claimWork({ project: bed.project, worker: 'alpha' }))!;
    writeFileSync(join(claim.worktree, 'test/sum.test.js'), `${weaker}// outside\n`);
    const result = { outcome: 'pr_ready', summary: 'done' } as const;
    await bed.api.finishClaim({ project: bed.project, task: claim.number, fence: claim.fence, result });
    for (const worker of own) await bed.api.steerWorkers({ project: bed.project, worker, operation: 'resume' });
    await bed.parked(id);
    expect((await bed.askedAbout(claim.number)).context).toContain(
      '- test/sum.test.js: 1 assertion is removed or changed',
    );
  });
});

describe('honest work', () => {
  testHonestWork(bed, HONEST.slice(0, 1));
});
