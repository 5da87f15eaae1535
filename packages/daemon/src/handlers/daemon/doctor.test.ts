import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';
import { OfflineBed } from '../../../../../test/support/offline-bed.ts';
import { ServedDaemon } from '../../../../../test/support/served-daemon.ts';
import { StreamProbe } from '../../../../../test/support/stream-probe.ts';
import { openDataFolder } from '../../config/data-folder.ts';
import { worktreeName } from '../../git/worktree-name.ts';

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
  const names = reactors?.map(({ name }) => name) ?? [];
  expect(names).toEqual(
    expect.arrayContaining([
      ...['workers', 'heartbeats', 'session-files', 'leases', 'lease-expiry', 'supervision', 'worktrees'],
      ...['conflict-recovery', 'spending', 'jobs', 'question-times', 'catalogue-triggers', 'landed', 'outages'],
      ...['housekeeping', 'stream'],
    ]),
  );
  expect(named('heartbeats')).toMatchObject({ projectId: project, position: null, behind: 0, lastError: null });
  expect(named('spending')).toMatchObject({
    projectId: project,
    position: expect.any(Number),
    behind: 0,
    state: 'running',
  });
  expect(named('stream')).toMatchObject({ projectId: null, position: expect.any(Number) });
  expect(findings.filter(({ check }) => check === 'reactors')).toMatchObject([
    { level: 'ok', text: `${names.length} run` },
  ]);
  probe.close();
});

test('doctor says so when there is no daemon', async () => {
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

test('doctor says how much data there is, what goes next, and how large the worktrees of blocked tasks are', async () => {
  const bed = await DaemonBed.open();
  try {
    const { api, project } = bed;
    const folder = openDataFolder({ TIDEMILL_HOME: bed.home });
    await api.addTask({ project, title: 'Stuck' });
    const task = await bed.claim('agent-1', 'builder');
    await bed.must({ type: 'run.start', ...bed.fence(task), runId: 'run_1', mode: 'implement', agent: 'test' });
    writeFileSync(folder.runLog('run_1'), Buffer.alloc(2_500_000));
    const hash = 'a'.repeat(64);
    writeFileSync(folder.gateLog(hash), 'x');
    utimesSync(folder.gateLog(hash), 1_000_000, 1_000_000);
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0, requests: 1 };
    const end = { runId: 'run_1', outcome: 'no_changes', envelope: null, usage } as const;
    await bed.must({ type: 'run.finish', ...bed.fence(task), ...end });
    const worktree = join(folder.project(project), 'worktrees', worktreeName(task.branch));
    mkdirSync(join(worktree, 'deep'), { recursive: true });
    writeFileSync(join(worktree, 'deep', 'file'), Buffer.alloc(1_200_000));
    symlinkSync('/', join(worktree, 'away'));

    const { findings } = await api.doctor({});
    const said = findings.filter(({ check }) => check === 'data').map(({ text }) => text);
    expect(said).toEqual([
      'run logs: 1 file, 2.5 MB; the next pass removes nothing',
      'gate logs: 1 file, 0.0 MB; the next pass removes 1 of them, 0.0 MB',
      'delivery logs: 0 files, 0.0 MB; the next pass removes nothing',
      expect.stringMatching(/^event log: \d+ events, about 0\.\d MB; the next pass removes nothing$/),
      'the mill: 0 snapshots; the next pass removes nothing',
    ]);
    expect(findings.map(({ text }) => text)).toContain(
      `the mill: #1 is blocked (no changes), its worktree is kept: ${worktree}, 1.2 MB`,
    );
    expect(await api.worktrees({ project })).toEqual([
      {
        number: 1,
        title: 'Stuck',
        stage: 'blocked',
        why: 'no_changes',
        path: worktree,
        bytes: 1_200_000,
        isCut: false,
      },
    ]);
  } finally {
    await bed.close();
  }
});
