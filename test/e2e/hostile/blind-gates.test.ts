import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlindingBed, testBlindings, testSeeing } from '../../support/hostile/blinding-bed.ts';
import { BLINDINGS, SEEING } from '../../support/hostile/blindings.ts';

const MINUTE = 60_000;
const FAMILIES = ['patches the assertion library', 'ends a shell with 0'];

const bed = new BlindingBed(['js', 'sh', 'lint']);
beforeAll(() => bed.open(), 2 * MINUTE);
afterAll(() => bed.close());

describe('a source that makes a gate blind', () => {
  testBlindings(
    bed,
    BLINDINGS.filter(([name]) => FAMILIES.includes(name)),
  );

  test('lands after a person has approved exactly this work', { timeout: 2 * MINUTE }, async () => {
    const { id, number } = bed.tasks.get('patches the assertion library (js)')!;
    const { context } = await bed.askedAbout(number);
    expect(context).toContain('Gate js passed in a throw-away copy of this work although:\n- src/sum.js was broken');
    await bed.machine.json(['task', 'approve', String(number)], bed.repository.root);
    await bed.landed(id);
    expect(bed.onMain('src/sum.js')).toContain('assert');
    bed.repository.git('revert', '--no-edit', 'HEAD');
  });
});

describe('work that leaves the gates as they are', () => {
  testSeeing(bed, SEEING.slice(0, 1));

  test('doctor names the gates that notice faults, and the one that notices nothing', async () => {
    const { stdout } = await bed.machine.run(['doctor'], bed.repository.root);
    expect(stdout).toContain('js, sh notice planted faults');
    expect(stdout).toContain('lint notices nothing we tried');
  });
});
