import { personActor, type SeenItem } from '@tidemill/contract';
import { Calendars, type Command } from '@tidemill/core';
import { expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../../test/e2e/cli-repository.ts';
import { createIds, systemClock } from '../../clock.ts';
import { openStore } from '../../store/open.ts';
import type { Services } from '../context.ts';
import { saveProject } from './project.ts';
import { status } from './status.ts';
import { StatusCache } from './status-cache.ts';

async function open() {
  const repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  // The clock does not advance, so all of it happens within one cached status.
  const clock = { ...systemClock, now: () => 1000 };
  const store = await openStore({ url: 'memory:', clock, ids: createIds(clock) });
  const { project } = await saveProject({ store }, repository.root);
  const live = { running: false, warnings: [] as string[] };
  const reactors = { haveCaughtUp: true };
  const services = {
    store,
    clock,
    engines: {
      of: () => ({
        isRunning: live.running,
        warnings: live.warnings,
        isWaitingForPerson: false,
        holds: async () => ({ isNew: false, full: [], isChecking: false, texts: [] }),
        isPushing: false,
        isDelivering: false,
        preparing: [],
        hasCaughtUp: async () => reactors.haveCaughtUp,
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
  const close = async () => {
    await store.close();
    repository.remove();
  };
  return { store, projectId: project.id, live, reactors, look, close };
}

test('the status shows changes without a write at once, with any number of readers', async () => {
  const { live, look, close } = await open();
  expect(await look()).toMatchObject(live);
  Object.assign(live, { running: true, warnings: ['the config cannot be read'] });
  expect(await look()).toMatchObject(live);
  await close();
});

test('the status counts issues that wait for a person, but not those that were refused', async () => {
  const { store, projectId, look, close } = await open();
  const seen: SeenItem = {
    ...{ title: 'An issue', body: '', kind: 'feature', priority: 2, labels: [], blockedBy: [] },
    ...{ state: 'open', isRejected: false, hash: 'h', updatedAt: 't' },
  };
  for (const key of ['k1', 'k2'])
    await store.execute({
      ...{ type: 'tracker_item.see', projectId, itemId: `tracker/${projectId}/${key}`, key, url: null },
      ...{ author: 'eve', isTrusted: false, waiting: 'untrusted', seen },
    });
  const by = personActor('ada');
  await store.execute({ type: 'tracker_item.refuse', projectId, itemId: `tracker/${projectId}/k2`, why: 'no', by });
  expect(await look()).toMatchObject({ sources: { issues: 1 }, environments: [] });
  await close();
});

test('a project is not idle before its reactors have handled the log', async () => {
  const { reactors, look, close } = await open();
  expect((await look()).idle).toBe(true);
  reactors.haveCaughtUp = false;
  expect((await look()).idle).toBe(false);
  await close();
});

test('a project whose workers a person holds is idle although a task waits, and no longer when one is resumed', async () => {
  const { store, projectId, look, close } = await open();
  const must = async (command: Command) => expect(await store.execute(command)).toMatchObject({ ok: true });
  const steer = (workerId: string, desired: 'running' | 'stopped') =>
    must({ type: 'worker.steer', projectId, workerId, desired, by: personActor('ada') });
  const worker = { type: 'worker.register', projectId, role: 'builder', host: '' } as const;
  for (const name of ['agent-1', 'agent-2']) await must({ ...worker, workerId: `${projectId}/${name}`, name });
  const task = { taskId: 'task_1', title: 'Bake', body: '', kind: 'feature', pipeline: 'quick' } as const;
  await must({ type: 'task.create', projectId, ...task, accept: ['x'], files: [], dependsOn: [], priority: 2 });
  expect((await look()).idle).toBe(false);
  for (const name of ['agent-1', 'agent-2']) await steer(`${projectId}/${name}`, 'stopped');
  expect((await look()).idle).toBe(true);
  await steer(`${projectId}/agent-1`, 'running');
  expect((await look()).idle).toBe(false);
  await close();
});
