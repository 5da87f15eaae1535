import { AppError } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { afterEach, expect, test } from 'vitest';
import { DeliveryBed, MINUTE, STAGING } from '../../../../../test/support/delivery-bed.ts';
import type { Outage, Store } from '../../ports.ts';

type Write = (command: Command) => Promise<unknown>;
/** What happens to a write, until it returns null. */
type Fault = (write: Write, command: Command) => Promise<never> | null;

let mill: DeliveryBed;
let fault: Fault;
afterEach(() => mill.bed.close());

/** The engine writes through a store that fails as the test says. */
async function open(): Promise<void> {
  fault = () => null;
  mill = await DeliveryBed.open([STAGING], ({ store }) => ({
    store: new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== 'execute') return value.bind(target);
        const execute: Store['execute'] = (command) =>
          fault((each) => target.execute(each), command) ?? target.execute(command);
        return execute;
      },
    }),
  }));
}

const full = () => new AppError('disk_full', 'There is no space left for the store.', { retriable: true });
const gone = () => new AppError('store_failed', 'the server closed the connection', { retriable: true });

/** The first `times` writes of this type fail. */
function failing(
  type: Command['type'],
  times: number,
  fail: (write: Write, command: Command) => Promise<never>,
): Fault {
  let left = times;
  return (write, command) => {
    if (command.type !== type || left === 0) return null;
    left -= 1;
    return fail(write, command);
  };
}
const afterwards = async (write: Write, command: Command): Promise<never> => {
  await write(command);
  throw gone();
};

const WRITES = ['delivery.begin', 'delivery.step_begin', 'delivery.step_end', 'delivery.move', 'delivery.end'] as const;
const ofCommit = (commit: string) => ['build', 'deploy', 'health'].map((each) => `staging ${each} ${commit}`);

test.each(WRITES)(
  'a delivery with a full disk at %s is recorded when there is space again, and nothing runs twice',
  async (type) => {
    await open();
    fault = failing(type, 500, () => Promise.reject(full()));
    const commit = await mill.land();
    expect(await mill.statuses()).toEqual(['staging healthy']);
    expect(mill.deliverer.ran).toEqual(ofCommit(commit));
    expect(await mill.questions()).toEqual([]);
  },
);

test.each(WRITES)('a delivery asks nobody when %s took effect and its answer was lost', async (type) => {
  await open();
  fault = failing(type, 1, afterwards);
  const commit = await mill.land();
  expect(await mill.statuses()).toEqual(['staging healthy']);
  expect(mill.deliverer.ran).toEqual(ofCommit(commit));
  expect(mill.bed.notes.filter((note) => note.includes('interrupted'))).toEqual([]);
});

test('a delivery’s question whose answer was lost is asked once', async () => {
  await open();
  await mill.land();
  mill.deliverer.rollbackCommands = ['undo'];
  mill.deliverer.script = (_context, what) =>
    what === 'health' || what === 'undo' ? { result: 'failed', note: 'exit code 1' } : { result: 'passed', note: '' };
  let isLost = false;
  fault = (write, command) => {
    if (isLost || command.type !== 'delivery.move' || command.to !== 'rollback_failed') return null;
    isLost = true;
    return afterwards(write, command);
  };
  await mill.land();
  expect(await mill.statuses()).toEqual(['staging healthy', 'staging rollback_failed']);
  expect(await mill.questions()).toHaveLength(1);
  expect(mill.bed.notes.filter((note) => note.includes('interrupted'))).toEqual([]);
});

test('a delivery is not left busy by an unexpected error that lasts; a person is asked when it is over', async () => {
  await open();
  let isBroken = true;
  fault = (_write, command) =>
    isBroken && command.type.startsWith('delivery.') && command.type !== 'delivery.request'
      ? command.type === 'delivery.begin' || command.type.startsWith('delivery.step_begin')
        ? null
        : Promise.reject(new Error('unexpected'))
      : null;
  await mill.land();
  expect(await mill.statuses()).toEqual(['staging running']);
  const { ran } = mill.deliverer;
  expect(ran).toHaveLength(1);
  isBroken = false;
  await mill.bed.pass(5 * MINUTE);
  expect(await mill.statuses()).toEqual(['staging asking']);
  expect(ran).toHaveLength(1);
  await mill.answer('Run it again');
  expect(await mill.statuses()).toEqual(['staging healthy']);
});

test('a delivery fails at an unexpected error before anything ran, and nobody is asked what is there', async () => {
  await open();
  fault = failing('delivery.step_begin', 1, () => Promise.reject(new Error('unexpected')));
  await mill.land();
  expect(await mill.statuses()).toEqual(['staging failed']);
  expect(mill.deliverer.ran).toEqual([]);
  expect(await mill.bed.alerts()).toContain('error delivery_failed staging');
});

test('the end of a delivery is recorded in the time left when the disk is full while the daemon stops', async () => {
  await open();
  await mill.land();
  let isFull = false;
  mill.deliverer.script = (_context, what) => {
    isFull ||= what === 'health';
    return { result: 'passed', note: '' };
  };
  fault = (_write, command) => (isFull && command.type.startsWith('delivery.') ? Promise.reject(full()) : null);
  await mill.land();
  expect(await mill.statuses()).toEqual(['staging healthy', 'staging checking']);
  const stopped = mill.bed.engine.stop({ graceMs: 10 * MINUTE });
  await mill.bed.pass(MINUTE);
  isFull = false;
  await mill.bed.pass(5 * MINUTE);
  await stopped;
  expect(await mill.statuses()).toEqual(['staging healthy', 'staging healthy']);
});

test('a delivery waits while the disk is full, and begins when there is space', async () => {
  await open();
  const commit = await mill.land();
  const { bed, deliverer } = mill;
  let outage: Outage | null = { kind: 'disk_full', text: 'There is no space left.' };
  Object.assign(bed.repository, { outage: async () => outage });
  await bed.pass(MINUTE);
  deliverer.ran.length = 0;
  await mill.request(commit);
  await bed.pass(5 * MINUTE);
  expect(await mill.statuses()).toEqual(['staging healthy', 'staging requested']);
  expect(deliverer.ran).toEqual([]);
  outage = null;
  await bed.pass(MINUTE);
  expect(await mill.statuses()).toEqual(['staging healthy', 'staging healthy']);
});
