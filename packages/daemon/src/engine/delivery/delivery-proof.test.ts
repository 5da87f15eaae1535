import { personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DeliveryBed, MINUTE, STAGING } from '../../../../../test/support/delivery-bed.ts';
import type { EngineBed } from '../../../../../test/support/engine-bed.ts';

let mill: DeliveryBed;
let bed: EngineBed;
beforeEach(async () => {
  mill = await DeliveryBed.open([{ ...STAGING, when: 'manual' }]);
  ({ bed } = mill);
});
afterEach(() => bed.close());

/** A person commits to the target, and the newest commit is requested. */
async function pushed(text: string): Promise<string> {
  bed.repository.commitByPerson('by-hand', text);
  const commit = bed.repository.target;
  expect(await mill.request(commit)).toMatchObject({ ok: true });
  return commit;
}
const steps = async () => (await mill.deliveries()).at(-1)!.steps.map(({ kind, result }) => `${kind} ${result}`);
const ofCommit = (commit: string) => ['build', 'deploy', 'health'].map((each) => `staging ${each} ${commit}`);

describe('a commit that others made', () => {
  test('passes the gates on exactly its tree, and is delivered with the receipts', async () => {
    const commit = await pushed('fine');
    expect((await mill.deliveries())[0]).toMatchObject({ evidence: [], unproven: ['integrity', 'test'] });
    await bed.pass(10 * MINUTE);
    expect(await mill.statuses()).toEqual(['staging healthy']);
    expect(await steps()).toEqual(['prove passed', 'run passed', 'run passed', 'health passed']);
    expect(mill.deliverer.ran).toEqual(ofCommit(commit));
    const { tree, evidence, unproven, override, id } = (await mill.deliveries())[0]!;
    expect({ unproven, override }).toEqual({ unproven: [], override: null });
    const links = await bed.store.evidenceForTree(bed.projectId, tree);
    expect(links.map(({ hash, taskId }) => [hash, taskId])).toEqual(evidence.map(({ hash }) => [hash, id]));
    // Its evidence is there now, so nothing is proven again.
    await mill.request(commit);
    await bed.pass(10 * MINUTE);
    expect(await steps()).toEqual(['run passed', 'run passed', 'health passed']);
  });

  test('that fails a gate is not delivered: the gate is named, and only a person can override it', async () => {
    const first = await mill.land();
    await mill.request(first);
    await bed.pass(10 * MINUTE);
    mill.deliverer.ran.length = 0;
    const commit = await pushed('a bug');
    await bed.pass(10 * MINUTE);
    expect((await mill.deliveries())[1]).toMatchObject({
      status: 'failed',
      why: expect.stringContaining('it does not pass test: a gate failed'),
      unproven: ['test'],
    });
    // The gate had its second try.
    const links = await bed.store.evidenceForTree(bed.projectId, (await mill.deliveries())[1]!.tree);
    expect(links.filter(({ gate }) => gate === 'test').map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(mill.deliverer.ran).toEqual([]);
    expect(await mill.environment()).toMatchObject({ state: 'healthy', live: { commit: first } });
    expect(await bed.alerts()).toContain('error delivery_failed staging');

    expect(await mill.request(commit)).toMatchObject({
      ok: false,
      refusal: { code: 'evidence_missing', message: expect.stringContaining('fails test under the present settings') },
    });
    await mill.request(commit, 'the gate is wrong');
    await bed.pass(10 * MINUTE);
    expect((await mill.deliveries())[2]).toMatchObject({ status: 'healthy', override: { gates: ['test'] } });
    expect(await steps()).toEqual(['run passed', 'run passed', 'health passed']);
  });

  test('is proven and delivered once by the next daemon when the daemon is killed in the proof', async () => {
    const commit = await pushed('fine');
    await bed.pass(0);
    expect(await steps()).toEqual(['prove running']);
    await mill.killed();
    await bed.pass(10 * MINUTE);
    expect(await steps()).toEqual(['prove interrupted', 'prove passed', 'run passed', 'run passed', 'health passed']);
    expect(mill.deliverer.ran).toEqual(ofCommit(commit));
  });

  test('is not delivered when a person stops it in the proof', async () => {
    await pushed('fine');
    await bed.pass(0);
    const { id: deliveryId, projectId, environment } = (await mill.deliveries())[0]!;
    await bed.must({ type: 'delivery.stop', projectId, deliveryId, environment, by: personActor('ada') });
    await bed.pass(10 * MINUTE);
    expect((await mill.deliveries())[0]).toMatchObject({ status: 'failed', why: 'stopped by ada' });
    expect(mill.deliverer.ran).toEqual([]);
  });
});
