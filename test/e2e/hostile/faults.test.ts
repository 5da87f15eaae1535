import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reachDaemon } from '../../../packages/daemon/src/assembly/reach.ts';
import { patientConfig, raisedIn } from '../../support/hostile/patient-agent.ts';
import { TidemillHome } from '../../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from '../cli-repository.ts';

describe('a daemon that does not respond', () => {
  let machine: TidemillHome;
  let repository: TemporaryRepository;
  let pid: number;
  beforeAll(async () => {
    machine = new TidemillHome();
    repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
    ({ pid } = await machine.up(repository.root));
  });
  afterAll(async () => {
    await machine.close();
    repository.remove();
  });

  test('because it is frozen is reported by every command within five seconds, until it is thawed', async () => {
    process.kill(pid, 'SIGSTOP');
    try {
      // The first request of every command, without the start time of a program on a busy machine.
      const begun = performance.now();
      await expect(reachDaemon(machine.env)).rejects.toMatchObject({ code: 'daemon_unreachable' });
      expect(performance.now() - begun).toBeLessThan(4_000);
      const told = await Promise.all([['status'], ['up']].map((args) => machine.start(args, repository.root)));
      for (const { code, stderr } of told) {
        expect(code).toBe(1);
        expect(stderr).toContain(`the daemon (pid ${pid}) is suspended by a signal`);
        expect(stderr).toContain(`kill -CONT ${pid}`);
      }
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect((await machine.run(['status'], repository.root)).code).toBe(0);
  });
});

describe('a repository', () => {
  let machine: TidemillHome;
  let repository: TemporaryRepository;
  let go: string;
  let api: Api;
  let project: string;
  beforeAll(async () => {
    machine = new TidemillHome();
    repository = new TemporaryRepository();
    go = join(repository.folder, 'go');
    repository.write({ '.tidemill/config.yaml': patientConfig(go) });
    repository.git('add', '-A');
    repository.git('commit', '-qm', 'Configure');
    await machine.up(repository.root);
    api = machine.api();
    project = (await api.projects({}))[0]!.id;
  });
  afterAll(async () => {
    await machine.close();
    repository.remove();
  });
  const alerts = async (title: string) => (await api.inbox({ project })).filter((item) => item.title.startsWith(title));
  const alertRaised = (kind: string) => machine.event('alert.raised', (body) => body.kind === kind);

  test('whose target is gone pauses with one notice, counts no attempt, and continues when it is back', async () => {
    const landed = machine.event('merge.landed');
    for (const title of ['One', 'Two', 'Three']) await api.addTask({ project, title });
    await machine.event('run.started');
    const main = repository.git('rev-parse', 'main');
    repository.git('checkout', '-q', '--detach');
    repository.git('branch', '-D', 'main');
    writeFileSync(go, '');
    await alertRaised('target_gone');
    repository.git('branch', 'main', main);
    await landed;
    await machine.idle(repository.root);
    const tasks = await Promise.all([1, 2, 3].map((task) => api.task({ project, task })));
    for (const { task } of tasks) expect(task).toMatchObject({ stage: 'done', counters: { failures: {} } });
    expect(await raisedIn(machine, repository, 'target_gone')).toBe(1);
    await machine.event('alert.resolved', ({ kind }) => kind === 'target_gone');
    repository.git('checkout', '-q', 'main');
  });

  test('that was moved away pauses with one notice, finds its path free, and continues when it is back', async () => {
    const elsewhere = join(repository.folder, 'elsewhere');
    renameSync(repository.root, elsewhere);
    await api.addTask({ project, title: 'While it is away' });
    await alertRaised('repository_gone');
    expect(existsSync(repository.root)).toBe(false);
    renameSync(elsewhere, repository.root);
    const { seq } = await machine.event('task.created', ({ title }) => title === 'While it is away');
    await machine.event('merge.landed', () => true, seq);
    expect(await raisedIn(machine, repository, 'repository_gone')).toBe(1);
    await machine.event('alert.resolved', ({ kind }) => kind === 'repository_gone');
    expect((await api.inbox({ project })).filter(({ kind }) => kind === 'alert')).toEqual([]);
    expect((await api.task({ project, task: 4 })).task.counters.failures).toEqual({});
  });

  test('whose target was reset before landed work, or has unknown evidence, is reported by doctor and in the inbox', async () => {
    await machine.run(['stop'], repository.root);
    const landed = repository.git('rev-parse', 'main');
    repository.git('reset', '-q', '--hard', 'main~2');
    const proof = `Forged\n\nTask: #9\nEvidence: ${'a'.repeat(64)}`;
    repository.git('commit', '-q', '--allow-empty', '-m', proof);
    await machine.up(repository.root);
    api = machine.api();
    await alertRaised('target_reset');
    await alertRaised('evidence_missing');
    expect(await alerts('target reset')).toMatchObject([{ text: expect.stringContaining(landed) }]);
    const { findings } = await api.doctor({});
    const levels = findings.filter(({ check }) => check === 'landed').map(({ level }) => level);
    expect(levels).toEqual(['problem', 'warning']);
  });
});
