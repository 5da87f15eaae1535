import { afterEach, beforeEach, expect, test } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import type { GateReport, GateRequest, Gates } from '../../ports.ts';

const MINUTE = 60_000;

/** Gates that take ten minutes, and reject when they are stopped, as the real ones do. */
class LongGates implements Gates {
  readonly names = ['integrity', 'test'];
  readonly checks = [];
  readonly trees: string[] = [];
  stopped = 0;
  readonly #bed: EngineBed;
  constructor(bed: EngineBed) {
    this.#bed = bed;
  }
  async run({ tree, signal }: GateRequest): Promise<GateReport[]> {
    this.trees.push(tree);
    await this.#bed.clock.sleep(10 * MINUTE, signal);
    if (signal.aborted) this.stopped += 1;
    signal.throwIfAborted();
    return [];
  }
}

let bed: EngineBed;
let gates: LongGates;
beforeEach(async () => {
  bed = await EngineBed.open({}, (of) => {
    gates = new LongGates(of);
    return { workers: 8, gates };
  });
  await bed.start();
});
afterEach(() => bed.close());

const targetTree = () => bed.repository.treeOf(bed.repository.target);

test('a look at the target ends with the engine, and raises no alert', async () => {
  await bed.add(1);
  await bed.pass(MINUTE);
  expect(gates.trees).toEqual([await targetTree()]);
  await bed.stop();
  expect(gates.stopped).toBe(1);
  expect(await bed.alerts()).not.toContain('error baseline_red test');
  expect(bed.notes.join()).not.toContain('could not be run');
});

test('while others push faster than the gates run, only the newest commit is looked at', async () => {
  const first = await targetTree();
  for (let number = 1; number <= 6; number += 1) {
    await bed.add(number);
    await bed.pass(MINUTE);
    if (number < 6) bed.repository.commitByPerson('theirs', String(number));
  }
  const newest = await targetTree();
  await bed.pass(30 * MINUTE);
  expect(gates.trees).toEqual([first, newest]);
});
