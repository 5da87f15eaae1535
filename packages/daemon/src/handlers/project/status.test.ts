import { Calendars } from '@tidemill/core';
import { expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../../test/e2e/cli-repository.ts';
import { createIds, systemClock } from '../../clock.ts';
import { openStore } from '../../store/open.ts';
import type { Services } from '../context.ts';
import { saveProject } from './project.ts';
import { status } from './status.ts';
import { StatusCache } from './status-cache.ts';

test('changes without a write show at once, with any number of readers', async () => {
  const repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  // The clock does not advance, so all of it happens within one cached status.
  const clock = { ...systemClock, now: () => 1000 };
  const store = await openStore({ url: 'memory:', clock, ids: createIds(clock) });
  const { project } = await saveProject({ store }, repository.root);
  const live = { running: false, warnings: [] as string[] };
  const services = {
    store,
    clock,
    engines: {
      of: () => ({
        isRunning: live.running,
        warnings: live.warnings,
        isWaitingForPerson: false,
        isPushing: false,
        isDelivering: false,
      }),
    },
    machine: {
      daemon: null,
      statusCache: new StatusCache(),
      calendars: new Calendars(),
      sandbox: async () => ({ active: true, text: '' }),
    },
  } as unknown as Services;
  const look = () => status(services, { project: project.id });
  expect(await look()).toMatchObject(live);
  Object.assign(live, { running: true, warnings: ['the config cannot be read'] });
  expect(await look()).toMatchObject(live);
  await store.close();
  repository.remove();
});
