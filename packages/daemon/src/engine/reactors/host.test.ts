import { type AlertKind, AppError, type LoggedEvent } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../../../../test/sim/virtual-clock.ts';
import { defaultRules } from '../../../../../test/support/mill.ts';
import { createIds } from '../../clock.ts';
import type { Reactor, ReactorCall, Store } from '../../ports.ts';
import { openStore } from '../../store/open.ts';
import { ReactorHost } from './host.ts';

const projectId = 'project_1';
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let clock: VirtualClock;
let store: Store;
let host: ReactorHost;
let notes: string[];

beforeEach(async () => {
  clock = new VirtualClock();
  notes = [];
  store = await openStore({ url: 'memory:', clock, ids: createIds(clock) });
  for (const id of [projectId, 'project_2'])
    await store.execute({ type: 'project.register', projectId: id, name: id, root: `/${id}`, rules: defaultRules });
  host = newHost();
});
afterEach(async () => {
  await host.stop();
  await store.close();
});

const newHost = () => new ReactorHost({ store, clock, onNote: (text) => void notes.push(text) });

async function pass(ms: number): Promise<void> {
  const until = clock.elapsed() + ms;
  void clock.sleep(ms);
  do for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  while (await clock.step(until));
}

/** An event: each kind is raised once. */
const raise = (kind: string, project = projectId) =>
  store.execute({ type: 'alert.raise', projectId: project, taskId: null, kind: kind as AlertKind, text: kind });

const kindsOf = (call: ReactorCall) =>
  call.cause === 'events' ? call.events.map(({ body }) => (body.type === 'alert.raised' ? body.kind : '')) : [];

const kindOf = ({ body }: LoggedEvent) => (body.type === 'alert.raised' ? body.kind : '');

async function add(handle: Reactor['handle'], more: Partial<Reactor> = {}) {
  return host.add({ name: 'test', projectId, on: ['alert.raised'], handle, ...more }, await store.lastSeq());
}

const away = () => new AppError('store_failed', 'the server is restarted', { retriable: true });

describe('events', () => {
  test('arrive after the start, in the order of the log, one call at a time, none twice', async () => {
    const seen: string[] = [];
    let busy = 0;
    await add(async (call) => {
      busy += 1;
      expect(busy).toBe(1);
      await clock.sleep(SECOND);
      seen.push(...(call.cause === 'events' ? kindsOf(call) : [call.cause]));
      busy -= 1;
    });
    for (const kind of ['a', 'b', 'c']) await raise(kind);
    await pass(10 * SECOND);
    expect(seen).toEqual(['start', 'a', 'b', 'c']);
  });

  test('have all been handled only when the last call has ended, the first call included; the background does not count', async () => {
    await add(() => clock.sleep(SECOND).then(() => undefined));
    await add(() => clock.sleep(MINUTE).then(() => undefined), { name: 'tripwires' });
    await add(() => clock.sleep(MINUTE).then(() => undefined), { name: 'other', projectId: 'project_2' });
    expect(await host.hasCaughtUp(projectId)).toBe(false);
    await pass(2 * SECOND);
    expect(await host.hasCaughtUp(projectId)).toBe(true);
    await raise('a');
    expect(await host.hasCaughtUp(projectId)).toBe(false);
    await pass(2 * SECOND);
    expect(await host.hasCaughtUp(projectId)).toBe(true);
    // The sleeping calls end before the host is stopped.
    await pass(3 * MINUTE);
  });

  test('are those of its project, unless it follows all projects', async () => {
    const own: string[] = [];
    const all: string[] = [];
    await add(async (call) => void own.push(...kindsOf(call)));
    await add(async (call) => void all.push(...kindsOf(call)), { name: 'all', followsAllProjects: true });
    await raise('here');
    await raise('there', 'project_2');
    await pass(SECOND);
    expect(own).toEqual(['here']);
    expect(all).toEqual(['here', 'there']);
  });

  test('reach a reactor that is added later from its given position, and no other reactor again', async () => {
    const first: string[] = [];
    const second: string[] = [];
    const after = await store.lastSeq();
    await add(async (call) => void first.push(...kindsOf(call)));
    await raise('a');
    await pass(SECOND);
    const late: Reactor['handle'] = async (call) => void second.push(...kindsOf(call));
    host.add({ name: 'late', projectId, on: ['alert.raised'], handle: late }, after);
    await raise('b');
    await pass(SECOND);
    expect([first, second]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  test('a slow reactor delays no other, and gets every event that arrived meanwhile', async () => {
    const fast: string[] = [];
    const slow: string[] = [];
    await add(async (call) => {
      if (call.cause === 'events') await clock.sleep(MINUTE);
      slow.push(...kindsOf(call));
    });
    await add(async (call) => void fast.push(...kindsOf(call)), { name: 'fast', atOnce: 100 });
    const kinds = Array.from({ length: 1_500 }, (_, index) => `kind-${index}`);
    await Promise.all(kinds.map((kind) => raise(kind)));
    await pass(SECOND);
    expect(fast).toEqual(kinds);
    await pass(1_600 * MINUTE);
    expect(slow).toEqual(kinds);
  });
});

describe('a call of a reactor that fails', () => {
  test('is repeated with growing pauses; the position stays before the event until it succeeds', async () => {
    const tries: number[] = [];
    const seen: string[] = [];
    await add(async (call) => {
      if (call.cause !== 'events') return;
      tries.push(clock.elapsed());
      if (tries.length < 4) throw new Error('not yet');
      seen.push(...kindsOf(call));
    });
    await pass(SECOND);
    const before = (await host.views())[0]!.position!;
    await raise('a');
    await raise('b');
    await pass(500);
    expect((await host.views())[0]).toMatchObject({ position: before, behind: 2, state: 'retrying' });
    await pass(10 * SECOND);
    expect(tries.slice(0, 4).map((at, index) => at - (tries[index - 1] ?? at))).toEqual([0, 250, 500, 1000]);
    expect(seen).toEqual(['a', 'b']);
    expect(await host.views()).toMatchObject([
      { position: await store.lastSeq(), behind: 0, state: 'running', lastError: { message: 'not yet' } },
    ]);
    expect(notes).toEqual(['test: alert.raised failed; retrying']);
  });

  test('is skipped after 5 attempts: noted, with its error kept', async () => {
    const seen: string[] = [];
    let tries = 0;
    await add(async (call) => {
      if (kindsOf(call).includes('bad')) {
        tries += 1;
        throw new Error('never');
      }
      seen.push(...kindsOf(call));
    });
    for (const kind of ['a', 'bad', 'b']) await raise(kind);
    await pass(MINUTE);
    expect(seen).toEqual(['a', 'b']);
    expect(tries).toBe(5);
    expect(notes.at(-1)).toBe('test: alert.raised failed 5 times; it is skipped');
    expect((await host.views())[0]).toMatchObject({ behind: 0, state: 'running', lastError: { message: 'never' } });
  });

  test('with many events is repeated for each event, so that only the faulty one is skipped', async () => {
    const seen: string[] = [];
    await add(
      async (call) => {
        if (kindsOf(call).includes('bad')) throw new Error('never');
        seen.push(...kindsOf(call));
      },
      { atOnce: 100 },
    );
    await Promise.all(['a', 'bad', 'b', 'c'].map((kind) => raise(kind)));
    await pass(MINUTE);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('because the store is unavailable is repeated until it is available', async () => {
    const seen: string[] = [];
    let isStoreUnavailable = true;
    await add(async (call) => {
      if (isStoreUnavailable && call.cause === 'events') throw away();
      seen.push(...kindsOf(call));
    });
    await raise('a');
    await pass(60 * MINUTE);
    isStoreUnavailable = false;
    await pass(MINUTE);
    expect(seen).toEqual(['a']);
    expect(notes).toHaveLength(1);
  });
});

describe('the ticks of a reactor', () => {
  test('come at the period, measured from the end of the previous one, and when a call requests one', async () => {
    const at: number[] = [];
    await add(
      async ({ cause, tickIn }) => {
        if (cause !== 'tick') return;
        at.push(clock.elapsed());
        await clock.sleep(SECOND);
        if (at.length === 2) tickIn(5 * SECOND);
      },
      { on: undefined, everyMs: MINUTE },
    );
    await pass(4 * MINUTE);
    expect(at.map((ms) => ms / SECOND)).toEqual([60, 121, 127, 188]);
    expect(await host.views()).toMatchObject([{ position: null, behind: 0 }]);
  });

  test('come at once on wake, and continue after failures', async () => {
    let ticks = 0;
    const handle = await add(
      async ({ cause }) => {
        if (cause === 'tick') ticks += 1;
        if (ticks === 1) throw new Error('once');
      },
      { on: undefined, everyMs: MINUTE },
    );
    await pass(SECOND);
    handle.wake();
    await pass(SECOND);
    expect(ticks).toBe(2);
    await pass(MINUTE);
    expect(ticks).toBe(3);
  });
});

describe('a loop of events', () => {
  test('of a reactor over its own events pauses it, with one alert; others continue', async () => {
    let calls = 0;
    const others: string[] = [];
    const own = host.watchWrites(store, ['alert.raised']);
    await add(
      async ({ cause }) => {
        if (cause === 'events') calls += 1;
        await own.store.execute({
          type: 'alert.raise',
          projectId,
          taskId: null,
          kind: `loop-${calls}` as AlertKind,
          text: 'again',
        });
      },
      { name: 'looping', own },
    );
    await add(async (call) => void others.push(...kindsOf(call)), { name: 'other' });
    await pass(5 * SECOND);
    expect(calls).toBe(100);
    expect((await host.views()).map(({ name, state }) => `${name} ${state}`)).toEqual([
      'looping paused',
      'other running',
    ]);
    await raise('meanwhile');
    await pass(10 * MINUTE);
    expect(others).toContain('meanwhile');
    expect(calls).toBeGreaterThan(150);
    const alerts = await store.records({ noun: 'alert', projectId, isOpen: true });
    expect(alerts.filter(({ kind }) => kind === 'reactor_loop')).toMatchObject([{ subject: 'looping', count: 1 }]);
    expect(notes).toHaveLength(1);
  });

  test('is not detected for many events of others', async () => {
    let calls = 0;
    const own = host.watchWrites(store, ['alert.raised']);
    const handle: Reactor['handle'] = async ({ cause }) => {
      if (cause === 'events') calls += 1;
    };
    await add(handle, { own });
    for (let index = 0; index < 300; index += 1) await raise(`kind-${index}`);
    await pass(SECOND);
    expect(calls).toBe(300);
    expect(notes).toEqual([]);
  });
});

describe('a stop of the reactors', () => {
  test('waits for the current call; nothing is called after it', async () => {
    const seen: string[] = [];
    const handle = await add(async (call) => {
      await clock.sleep(SECOND);
      seen.push(call.cause);
    });
    await raise('a');
    await pass(1_500);
    const stopped = handle.stop();
    await pass(SECOND);
    await stopped;
    await raise('b');
    await pass(MINUTE);
    expect(seen).toEqual(['start', 'events']);
    expect(await host.views()).toEqual([]);
  });

  test('ends a pause between two attempts', async () => {
    const handle = await add(() => Promise.reject(away()));
    await pass(MINUTE);
    await handle.stop();
    expect(notes).toHaveLength(1);
  });

  test('during a call lets the next host repeat it, and a command with a key has one effect', async () => {
    const after = await store.lastSeq();
    let isKilled = true;
    const calls: string[] = [];
    const reactor: Reactor = {
      name: 'test',
      projectId,
      on: ['alert.raised'],
      async handle(call) {
        if (call.cause !== 'events') return;
        calls.push(...kindsOf(call));
        for (const event of call.events)
          await store.execute({
            type: 'notification.queue',
            projectId,
            notification: {
              id: `notification/${event.seq}`,
              channel: 'c',
              about: 'x',
              severity: 'info',
              group: '',
              title: kindOf(event),
              text: '',
              taskId: null,
              questionIds: [],
              nextAt: 1,
            },
          });
        if (isKilled) await new Promise(() => undefined);
      },
    };
    host.add(reactor, after);
    await raise('a');
    await pass(SECOND);
    isKilled = false;
    host = newHost();
    host.add(reactor, after);
    await pass(SECOND);
    expect(calls).toEqual(['a', 'a']);
    expect(await store.events({ types: ['notification.queued'], limit: 10 })).toHaveLength(1);
  });
});
