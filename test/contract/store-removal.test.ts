import { BEATS_KEPT, type LoggedEvent } from '@tidemill/contract';
import { SUPERSEDING, SupersededEvents } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { type Mill, memoryPlace, open, type Place, PROJECT, sharedPlaces } from './store-bed.ts';

describe.each(Object.entries({ memory: memoryPlace, ...sharedPlaces(inject('postgresUrl')) }))(
  'removing events on %s',
  (_, make) => {
    let place: Place;
    let mill: Mill;
    beforeEach(async () => {
      place = await make();
      mill = await (await open(place)).register(1);
    });
    afterEach(async () => {
      await mill.store.close();
      await place.remove();
    });

    const workerId = `${PROJECT}/w1`;
    const beat = (times: number) =>
      Promise.all(
        Array.from({ length: times }, (_each, memoryMb) =>
          mill.must({ type: 'worker.beat', projectId: PROJECT, workerId, beat: { memoryMb, cpuPercent: 1 } }),
        ),
      );
    const all = () => mill.store.events({ limit: 1000 });
    const superseded = async () => {
      const search = new SupersededEvents();
      const events = await mill.store.events({ types: [...SUPERSEDING], newestFirst: true, limit: 1000 });
      return events.filter(({ body }) => search.isSuperseded(body)).map(({ seq }) => seq);
    };

    test('keeps the rows, the newest number, and what doctor compares', async () => {
      await beat(30);
      const task = await mill.create();
      const held = await mill.mustClaim('w1');
      for (let i = 0; i < 5; i += 1)
        await mill.must({ type: 'lease.renew', projectId: PROJECT, subjectId: task.id, token: held.fence });
      await mill.finish(held);
      const before = await all();
      const gone = await superseded();
      expect(gone).toHaveLength(30 - BEATS_KEPT + 5);
      expect(await mill.store.removeEvents(gone)).toBe(gone.length);
      expect(await mill.store.removeEvents(gone)).toBe(0);
      expect(await all()).toEqual(before.filter(({ seq }) => !gone.includes(seq)));
      expect(await mill.store.removedEvents()).toEqual({
        count: gone.length,
        seqs: gone.reduce((sum, seq) => sum + seq, 0),
      });
      expect(await mill.store.logSize()).toMatchObject({ events: before.length - gone.length });
      expect(await compareLogWithProjection(mill.store)).toEqual([]);
      expect(await mill.store.repair()).toEqual([]);
      const next = await mill.must({
        type: 'worker.beat',
        projectId: PROJECT,
        workerId,
        beat: { memoryMb: 1, cpuPercent: 1 },
      });
      expect(next.events[0]!.seq).toBe(before.length + 1);
    });

    test('never removes the newest event: its number would be used again', async () => {
      await beat(3);
      const last = await mill.store.lastSeq();
      expect(await mill.store.removeEvents([last - 1, last])).toBe(1);
      expect(await mill.store.lastSeq()).toBe(last);
    });

    test('an event that is missing for another reason is a fault', async () => {
      await beat(20);
      await mill.create();
      const [first] = await superseded();
      await mill.store.removeEvents([first!]);
      const seen = await mill.store.events({ types: ['worker.beat'], limit: 1 });
      // As if somebody deleted a row: the reads have it no longer.
      const damaged = {
        rows: () => mill.store.rows(),
        removedEvents: () => mill.store.removedEvents(),
        events: async (query: Parameters<typeof mill.store.events>[0]) =>
          (await mill.store.events(query)).filter(({ seq }) => seq !== seen[0]!.seq),
      };
      expect(await compareLogWithProjection(damaged)).toEqual([
        '2 events are missing, but 1 were removed by housekeeping',
        expect.stringContaining('the log has a gap between'),
        expect.stringContaining('the log has a gap between'),
      ]);
    });

    test('subscribers and cursors continue over gaps', async () => {
      await beat(60);
      await mill.store.removeEvents(await superseded());
      await mill.create();
      const expected = await all();
      for (const after of [0, 5, 30, expected.at(-1)!.seq - 1]) {
        const stop = new AbortController();
        const seen: LoggedEvent[] = [];
        for await (const event of mill.store.subscribe(after, {}, stop.signal)) {
          seen.push(event);
          if (event.seq === expected.at(-1)!.seq) stop.abort();
        }
        expect(seen).toEqual(expected.filter(({ seq }) => seq > after));
      }
    });
  },
);
