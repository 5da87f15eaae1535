import { environmentId, personActor } from '@tidemill/contract';
import type { CommandOf } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { ENVIRONMENTS } from '../support/delivery-generators.ts';
import { type Mill, memoryPlace, open, type Place, PROJECT, sharedPlaces } from './store-bed.ts';

const projectId = PROJECT;
const by = personActor('ada');
const [staging, production] = ENVIRONMENTS;

describe.each(Object.entries({ memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') }))(
  'two daemons that deliver from one store, on %s',
  (_name, makePlace) => {
    let place: Place;
    let mills: Mill[];
    let stores: [Store, Store];
    beforeEach(async () => {
      place = await makePlace();
      const first = await (await open(place)).register();
      mills = [first, ...(place.keepsOverReopening ? [await open(place)] : [])];
      stores = [first.store, (mills[1] ?? first).store];
      const { rules } = (await first.store.project(PROJECT))!;
      const delivery = [staging!, { ...production!, after: null }];
      await first.must({ type: 'project.configure', projectId, rules: { ...rules, delivery } });
    });
    afterEach(async () => {
      for (const { store } of mills) await store.close();
      await place.remove();
    });

    const request = (n: number, environment: string): CommandOf<'delivery.request'> => ({
      ...{ type: 'delivery.request', projectId, deliveryId: `delivery_${n}`, environment, commit: `c${n}`, tree: 't' },
      ...{ tasks: [], taskCount: 0, cause: 'manual', specId: null, override: 'a trial', isApproved: false, by },
      replaces: [],
    });
    const all = () => stores[0].records({ noun: 'delivery', projectId });

    test('never begin two at once in an environment; numbers are given once; questions are found', async () => {
      // The second of an environment is refused: it must name the one that it replaces.
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, n) => stores[n % 2]!.execute(request(n, n < 4 ? 'staging' : 'production'))),
      );
      expect(replies.filter(({ ok }) => ok)).toHaveLength(2);
      expect((await all()).map(({ number }) => number).sort()).toEqual([1, 2]);
      const waiting = (await all()).find(({ status }) => status === 'waiting')!;
      expect(await stores[1].records({ noun: 'question', parent: waiting.id, isOpen: true })).toHaveLength(1);

      const [first] = await stores[0].records({ noun: 'delivery', parent: environmentId(PROJECT, 'staging') });
      const of = { projectId, deliveryId: first!.id, environment: 'staging' };
      const begun = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          stores[n % 2]!.execute({ type: 'delivery.begin', ...of, owner: `daemon-${n % 2}` }),
        ),
      );
      // A repetition of its owner changes nothing.
      expect(begun.filter((reply) => reply.ok && reply.events.length > 0)).toHaveLength(1);
      const { owner } = (await stores[1].record('delivery', first!.id))!;
      // A dead owner's delivery is taken over once.
      const taken = await Promise.all(
        ['daemon-8', 'daemon-9'].map((next, n) =>
          stores[n]!.execute({ type: 'delivery.take', ...of, owner: next, from: owner }),
        ),
      );
      expect(taken.filter(({ ok }) => ok)).toHaveLength(1);
      const now = (await stores[0].record('delivery', first!.id))!.owner!;
      const end = { type: 'delivery.end', ...of, status: 'healthy', why: 'جدول 🌊' } as const;
      expect(await stores[0].execute({ ...end, owner: owner! })).toMatchObject({ ok: false });
      expect(await stores[1].execute({ ...end, owner: now })).toMatchObject({ ok: true });
      expect(await stores[0].record('environment', environmentId(PROJECT, 'staging'))).toMatchObject({
        state: 'healthy',
        live: { commit: first!.commit },
      });
      expect(await stores[1].records({ noun: 'delivery', projectId, isOpen: true })).toHaveLength(1);
      expect(await compareLogWithProjection(stores[0])).toEqual([]);
    });
  },
);
