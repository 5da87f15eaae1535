import { afterEach, beforeEach, expect, test } from 'vitest';
import { OfflineBed } from '../../../../../test/support/offline-bed.ts';
import { ServedDaemon } from '../../../../../test/support/served-daemon.ts';
import { StreamProbe } from '../../../../../test/support/stream-probe.ts';

let served: ServedDaemon;

beforeEach(async () => {
  served = await ServedDaemon.start();
});
afterEach(() => served.close());

test('doctor lists the reactors of a running daemon: position, how far behind, last error', async () => {
  const { api, project, repository } = served;
  expect((await api.doctor({})).reactors).toEqual([]);
  await api.attachProject({ root: repository.root });
  const probe = await StreamProbe.open(served.url, served.token);
  probe.ask({ type: 'subscribe', project });
  await probe.next('ready');
  const { reactors, findings } = await api.doctor({});
  const named = (name: string) => reactors?.find((reactor) => reactor.name === name);
  expect(reactors?.map(({ name }) => name)).toEqual([
    ...['workers', 'heartbeats', 'session-files', 'leases', 'lease-expiry', 'supervision', 'worktrees'],
    ...['conflict-settling', 'spending', 'jobs', 'question-times', 'occasions', 'landed', 'outages', 'stream'],
  ]);
  expect(named('heartbeats')).toMatchObject({ projectId: project, position: null, behind: 0, lastError: null });
  expect(named('spending')).toMatchObject({
    projectId: project,
    position: expect.any(Number),
    behind: 0,
    state: 'running',
  });
  expect(named('stream')).toMatchObject({ projectId: null, position: expect.any(Number) });
  expect(findings.filter(({ check }) => check === 'reactors')).toMatchObject([{ level: 'ok', text: '15 run' }]);
  probe.close();
});

test('without a daemon it says so', async () => {
  const bed = await OfflineBed.open();
  try {
    const { ok, findings, reactors } = await bed.api.doctor({});
    expect([ok, reactors]).toEqual([true, null]);
    expect(findings.filter(({ check }) => check === 'reactors')).toMatchObject([
      { level: 'ok', text: 'no daemon is running, so no reactors run' },
    ]);
  } finally {
    await bed.close();
  }
});
