import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EventBody, SessionFile, type WorkerView } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leakedProcesses } from '../../packages/daemon/src/process/leaks.ts';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;

/** Starts its work, shows that it runs, and ends on a sign of the test, so that a test controls its duration. */
const AGENT = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
const stage = process.env.STAGE_DOOR;
if (task.title.includes('stubborn')) process.on('SIGTERM', () => undefined);
if (task.title.includes('dies')) {
  console.error('out of steam');
  process.exit(3);
}
writeFileSync('work-' + task.number + '.txt', 'begun');
for (let tick = 0; !existsSync(stage + '/go'); tick += 1) {
  writeFileSync(stage + '/tick-' + task.number, String(tick));
  await delay(20);
}
writeFileSync('work-' + task.number + '.txt', 'done');
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' }));
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let door: string;

beforeEach(() => {
  machine = new TidemillHome({ USER: 'ada' });
  door = join(machine.home, 'door');
  mkdirSync(door);
  repository = new TemporaryRepository({ 'agent.mjs': AGENT });
  root = repository.root;
  const where = JSON.stringify(door);
  const agent = `{ type: command, command: [node, agent.mjs], env: { STAGE_DOOR: ${where} }, writable: [${where}] }`;
  repository.write({
    '.tidemill/config.yaml': `target: main\npipeline: quick\nagents:\n  default: ${agent}\ngates:\n  - { name: test, run: "true" }\n`,
  });
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

// Commands change the fleet; the tests read its state without a separate process.
const add = (title: string) => machine.ask(root, (api, project) => api.addTask({ project, title }));
const workers = () => machine.ask(root, (api, project) => api.workers({ project }));
const workerNamed = async (name: string) => (await workers()).find((each) => each.name === name)!;
const taskOf = (number: number) => machine.ask(root, (api, project) => api.task({ project, task: number }));
const status = () => machine.ask(root, (api, project) => api.status({ project }));
const openDoor = () => writeFileSync(join(door, 'go'), '');
const events = (...types: EventBody['type'][]) => machine.events(root, types);
const session = (name: string) =>
  SessionFile.parse(JSON.parse(readFileSync(join(root, '.claude-sessions', `${name}.session`), 'utf8')));

/** Running agents of this machine, with their state in the kernel. */
async function agents(): Promise<{ pid: number; state: string }[]> {
  const home = readFileSync(join(machine.data, 'home.id'), 'utf8').trim();
  return (await leakedProcesses(home)).flatMap(({ pid }) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      return [{ pid, state: stat.slice(stat.lastIndexOf(')') + 2)[0]! }];
    } catch {
      return []; // ended in the meantime
    }
  });
}

/** Waits until the agents of these tasks have started. */
const begun = (...numbers: number[]) =>
  until(() => numbers.every((number) => existsSync(join(door, `tick-${number}`))));

const here = process.platform === 'linux' ? describe : describe.skip;

here('the fleet (needs /proc)', () => {
  test('a pause waits for the checkpoint, nothing new is taken, resume continues', {
    timeout: 3 * MINUTE,
  }, async () => {
    for (const title of ['One', 'Two']) await add(title);
    const daemon = await machine.up(root);
    await begun(1);
    await machine.run(['pause'], root);
    const paused = await workerNamed('agent-1');
    expect(paused).toMatchObject({ status: 'paused', desired: 'paused', desiredBy: 'ada', task: { number: 1 } });
    await until(() => session('agent-1').status === 'paused');
    expect(session('agent-1')).toMatchObject({
      currentProjectNumber: 1,
      branchName: expect.stringContaining('task/1'),
    });
    openDoor();
    await until(async () => (await workers()).every(({ task }) => task === null));
    // Any event now would wake a worker that may work.
    await add('Three');
    expect((await status()).tasks).toMatchObject({ open: 2 });
    expect((await machine.run(['pause'], root)).code).toBe(0);
    await machine.run(['resume'], root);
    await machine.idle(root);
    expect((await status()).tasks).toEqual({ done: 3 });
    const log = await events('worker.steered', 'lease.claimed');
    const steered = (desired: string) =>
      log.find(
        ({ body }) => body.type === 'worker.steered' && body.desired === desired && body.workerId.endsWith('/agent-1'),
      )!;
    const between = log.filter(
      ({ seq, body }) => body.type === 'lease.claimed' && seq > steered('paused').seq && seq < steered('running').seq,
    );
    expect(between).toEqual([]);
    expect((await taskOf(1)).runs).toHaveLength(1);
    expect(await workerNamed('agent-1')).toMatchObject({ status: 'idle', tasksCompleted: 3, errors: 0 });
    await machine.run(['stop'], root);
    await daemon.ended;
    expect(session('agent-1')).toMatchObject({ status: 'stopped', tasksCompleted: 3, currentProjectNumber: null });
  });

  test('pause --now freezes the processes, and resume continues the same run', {
    timeout: 3 * MINUTE,
  }, async () => {
    await add('One');
    await machine.up(root);
    await begun(1);
    const { stdout } = await machine.run(['pause', '--now'], root);
    expect(stdout).toContain('Frozen: agent-1 (#1)');
    await until(async () => {
      const all = await agents();
      return all.length > 0 && all.every(({ state }) => state === 'T');
    });
    const tick = () => readFileSync(join(door, 'tick-1'), 'utf8');
    const before = tick();
    openDoor();
    expect(await workerNamed('agent-1')).toMatchObject({ status: 'paused', desired: 'frozen', task: { number: 1 } });
    expect((await machine.run(['workers'], root)).stdout).toMatch(/agent-1 +frozen/);
    expect(tick()).toBe(before);
    expect(await agents()).not.toEqual([]);
    await machine.run(['resume'], root);
    await machine.idle(root);
    expect(await taskOf(1)).toMatchObject({ task: { stage: 'done' }, runs: [{ outcome: 'pr_ready', failure: null }] });
  });

  test('stop ends an agent that ignores signals, keeps its work and returns the task; start continues', {
    timeout: 3 * MINUTE,
  }, async () => {
    await add('One, stubborn');
    await machine.up(root);
    await begun(1);
    expect((await machine.run(['workers', 'stop', 'agent-1'], root)).code).toBe(0);
    await machine.event('lease.released');
    expect(await agents()).toEqual([]);
    expect(await workerNamed('agent-1')).toMatchObject({ status: 'stopped', task: null, errors: 0 });
    await until(() => session('agent-1').status === 'stopped');
    expect(await taskOf(1)).toMatchObject({
      task: { stage: 'implement', lease: null, counters: { failures: {} } },
      runs: [{ outcome: 'interrupted', summary: 'stopped by ada' }],
    });
    expect(await events('snapshot.taken')).toHaveLength(1);
    for (const verb of ['stop', 'pause', 'pause', 'stop'])
      expect((await machine.run(['workers', verb, 'agent-1'], root)).code).toBe(0);
    openDoor();
    expect((await machine.run(['workers', 'start', 'agent-1'], root)).code).toBe(0);
    await machine.idle(root);
    expect((await taskOf(1)).task.stage).toBe('done');
  });

  test('a crash is shown with its error; restart clears it, reset clears the figures', {
    timeout: 3 * MINUTE,
  }, async () => {
    await add('One that dies');
    await machine.up(root);
    // It is retried for a while; after that, the shown state stays.
    await machine.event('task.blocked');
    await until(async () => (await workerNamed('agent-1')).status === 'crashed');
    const { errors, lastError } = await workerNamed('agent-1');
    expect(errors).toBeGreaterThan(0);
    expect(lastError).toContain('out of steam');
    await until(() => session('agent-1').status === 'crashed');
    expect(session('agent-1')).toMatchObject({
      errorCount: errors,
      lastError: expect.stringContaining('out of steam'),
    });
    const again = await machine.json<WorkerView[]>(['workers', 'restart', 'agent-1'], root);
    expect(again).toMatchObject([{ name: 'agent-1', status: 'idle', errors }]);
    const reset = await machine.json<WorkerView[]>(['workers', 'reset', 'agent-1'], root);
    expect(reset).toMatchObject([{ status: 'idle', errors: 0, lastError: null, tasksCompleted: 0 }]);
    await until(() => session('agent-1').errorCount === 0);
    const audit = (await events('emergency.executed')).map(({ body }) => body);
    expect(audit).toMatchObject([
      { operation: 'restart_worker', by: { name: 'ada' }, workers: ['agent-1'] },
      { operation: 'reset_worker', by: { name: 'ada' }, workers: ['agent-1'] },
    ]);
  });

  test('restart asks before it ends an agent at work', { timeout: 3 * MINUTE }, async () => {
    await add('One');
    await machine.up(root);
    await begun(1);
    const asked = await machine.run(['workers', 'restart', 'agent-1'], root);
    expect(asked.code).not.toBe(0);
    expect(asked.stderr).toContain('This stops agent-1, working on #1.');
    openDoor();
    expect((await machine.run(['workers', 'restart', 'agent-1', '--yes'], root)).code).toBe(0);
    await machine.idle(root);
    expect((await taskOf(1)).task.stage).toBe('done');
  });

  test('a task is taken from one worker and given to another', { timeout: 3 * MINUTE }, async () => {
    await add('One');
    await machine.up(root, '--workers', '2');
    await begun(1);
    const holder = (await workers()).find(({ task }) => task !== null)!.name;
    const other = holder === 'agent-1' ? 'agent-2' : 'agent-1';
    expect((await machine.run(['workers', 'reassign', '1', 'agent-9'], root)).stderr).toContain('no worker "agent-9"');
    expect((await machine.run(['workers', 'reassign', '1', 'review-agent'], root)).stderr).toContain('is a reviewer');
    await machine.run(['workers', 'reassign', '1', other], root);
    await until(async () => (await workerNamed(other)).task?.number === 1);
    openDoor();
    await machine.idle(root);
    const { task, runs } = await taskOf(1);
    expect(task.stage).toBe('done');
    expect(runs.map(({ workerId, outcome }) => [workerId.split('/').at(-1), outcome])).toEqual([
      [holder, 'interrupted'],
      [other, 'pr_ready'],
    ]);
  });

  test('workers are added and removed at run time, with their session files', { timeout: 3 * MINUTE }, async () => {
    await machine.up(root, '--workers', '2');
    // Without files that are still being written; they have another name until they are complete.
    const files = () =>
      existsSync(join(root, '.claude-sessions'))
        ? readdirSync(join(root, '.claude-sessions')).filter((name) => name.endsWith('.session'))
        : [];
    const named = (...names: string[]) => names.map((name) => `${name}.session`);
    await until(() => files().length === 3);
    expect(files().sort()).toEqual(named('agent-1', 'agent-2', 'review-agent'));
    await machine.run(['workers', 'remove', 'agent-1'], root);
    await until(() => !files().includes('agent-1.session'));
    const last = await machine.run(['workers', 'remove', 'agent-2'], root);
    expect(last.stderr).toContain('agent-2 is the last builder');
    expect((await machine.run(['workers', 'remove', 'merger'], root)).stderr).toContain('merger cannot be removed');
    expect(await machine.json<WorkerView>(['workers', 'add'], root)).toMatchObject({ name: 'agent-1', status: 'idle' });
    const api = machine.api();
    const [project] = await api.projects({ root });
    for (let count = 3; count <= 10; count += 1) await api.addWorker({ project: project!.id });
    await expect(api.addWorker({ project: project!.id })).rejects.toMatchObject({ code: 'bad_input' });
    await until(() => files().length === 11);
    openDoor();
    for (let number = 1; number <= 3; number += 1) await add(`Task ${number}`);
    await machine.idle(root);
    expect((await status()).tasks).toEqual({ done: 3 });
    expect(repository.git('status', '--porcelain', '-uall').split('\n')).toEqual(['?? .tidemill/config.yaml']);
  });

  test('an emergency stop lists what it affects, kills ten agents that ignore signals, and lasts across a restart until resume', {
    timeout: 5 * MINUTE,
  }, async () => {
    const all = Array.from({ length: 10 }, (_, index) => index + 1);
    for (const number of all) await add(`Task ${number}, stubborn`);
    const first = await machine.up(root, '--workers', '10');
    await begun(...all);
    const asked = await machine.run(['stop', '--emergency'], root);
    expect(asked.code).not.toBe(0);
    const named = all.map((number) => `#${number}`).join(', ');
    expect(asked.stderr.replaceAll('\n', ' ')).toContain(`This stops 10 agents working on ${named}.`);
    expect(await agents()).not.toEqual([]);

    const report = await machine.json<{ workers: string[]; tasks: number[] }>(['stop', '--emergency', '--yes'], root);
    expect(report.tasks).toEqual(all);
    expect(await agents()).toEqual([]);
    expect((await workers()).map((worker) => [worker.status, worker.task])).toEqual(Array(13).fill(['stopped', null]));
    const [audit] = await events('emergency.executed');
    expect(audit?.body).toMatchObject({ operation: 'emergency_stop', by: { name: 'ada' }, tasks: all });
    // Leases do not wait for it without limit, so on a busy machine some work may be saved a moment later.
    await until(async () => {
      const kept = await events('snapshot.taken');
      return new Set(kept.map(({ body }) => 'taskId' in body && body.taskId)).size === 10;
    });

    openDoor();
    await machine.run(['stop'], root);
    await first.ended;
    const second = await machine.up(root, '--workers', '10');
    expect((await workers()).every((worker) => worker.status === 'stopped' && worker.task === null)).toBe(true);
    expect((await machine.run(['status'], root)).stdout).toContain('paused; continue with tidemill resume');
    await machine.run(['resume'], root);
    await machine.idle(root);
    expect((await status()).tasks).toEqual({ done: 10 });
    await machine.run(['stop'], root);
    await second.ended;
  });

  test('stop --now ends a daemon that does not respond, with all its child processes, and says so', {
    timeout: 3 * MINUTE,
  }, async () => {
    await add('One, stubborn');
    const daemon = await machine.up(root);
    await begun(1);
    daemon.child.kill('SIGSTOP');
    const { code, stdout } = await machine.run(['stop', '--now'], root);
    expect(stdout).toContain(`The daemon (pid ${daemon.pid}) did not respond and was killed.`);
    expect(code).toBe(0);
    await daemon.ended;
    expect(await agents()).toEqual([]);
    expect((await machine.run(['stop', '--now'], root)).stderr).toContain('no daemon responds');
    openDoor();
    expect((await machine.run(['up', '--until-idle'], root)).code).toBe(0);
    expect((await taskOf(1)).task.stage).toBe('done');
  });

  test('a daemon with busy and frozen agents stops, and leaves nothing behind', {
    timeout: 3 * MINUTE,
  }, async () => {
    for (const title of ['One', 'Two']) await add(title);
    const daemon = await machine.up(root, '--workers', '2');
    await begun(1, 2);
    await machine.run(['workers', 'pause', 'agent-1', '--now'], root);
    await machine.run(['stop'], root);
    await daemon.ended;
    expect(await agents()).toEqual([]);
    expect((await workers()).map(({ task }) => task)).toEqual(Array(5).fill(null));
    expect(await workerNamed('agent-1')).toMatchObject({ desired: 'frozen' });
  });

  test('purge asks, names the number, and cancels tasks that were not started', { timeout: 3 * MINUTE }, async () => {
    for (const title of ['One', 'Two', 'Three']) await add(title);
    const asked = await machine.run(['purge'], root);
    expect(asked.code).not.toBe(0);
    expect(asked.stderr).toContain('This cancels 3 tasks that have not started.');
    expect(await machine.json(['purge', '--yes'], root)).toEqual({ tasks: [1, 2, 3] });
    expect((await status()).tasks).toEqual({ cancelled: 3 });
    expect((await machine.run(['purge'], root)).stdout).toContain('The queue was empty.');
    expect((await events('emergency.executed')).map(({ body }) => body)).toMatchObject([
      { operation: 'purge_queue', by: { name: 'ada' }, tasks: [1, 2, 3] },
      { operation: 'purge_queue', tasks: [] },
    ]);
  });
});
