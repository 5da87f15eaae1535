import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { AccountView, LoggedEvent, MetricsView, ProjectStatus, TaskDetail } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

/** Reports its cost, and continues only after a sign from the test. */
const AGENT = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { task } = JSON.parse(input);
const tell = (line) => console.log(JSON.stringify(line));
const sign = (name) => existsSync(process.env.SIGNS + '/' + name);
const given = async (name) => { while (!sign(name)) await setTimeout(20); };
writeFileSync('work-' + task.number + '.txt', 'half\\n');
if (!sign('cheap')) {
  tell({ tidemill: 'usage', costUsd: 9.1, inputTokens: 10, outputTokens: 5 });
  await given('more');
  tell({ tidemill: 'usage', costUsd: 1.5 });
  await given('never');
}
writeFileSync('work-' + task.number + '.txt', 'whole\\n');
tell({ tidemill: 'usage', inputTokens: 3 });
tell({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' });
`;

/** A time zone where it is about noon now, so that no test runs over midnight. The zone names have the opposite sign. */
const hour = new Date().getUTCHours();
const noon = `Etc/GMT${hour >= 12 ? `+${hour - 12}` : `-${12 - hour}`}`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let signs: string;

const config = (more: string) => `target: main
pipeline: quick
workers: 2
sandbox: "off"
agents:
  default: { type: command, command: [${JSON.stringify(process.execPath)}, agent.mjs], env: { SIGNS: ${JSON.stringify(signs)} } }
gates:
  - { name: test, run: "true" }
${more}
`;
const give = (name: string) => writeFileSync(join(signs, name), '');
/** Committed, because landing waits for a clean checkout. */
function write(text: string): void {
  writeFileSync(join(root, '.tidemill', 'config.yaml'), text);
  repository.git('commit', '-q', '-a', '-m', 'Other settings');
}

beforeEach(() => {
  machine = new TidemillHome();
  signs = join(machine.folder, 'signs');
  mkdirSync(signs);
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG, 'agent.mjs': AGENT });
  root = repository.root;
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

const alerted = (kind: string) => machine.event('alert.raised', (body) => body.kind === kind);
const ownAccount = async () => (await machine.json<AccountView[]>(['budget'], root))[0]!;
const claimsOf = async (taskId: string) =>
  (await machine.jsonLines<LoggedEvent>(['events', '--type', 'lease.claimed'], root)).filter(
    ({ body }) => body.type === 'lease.claimed' && body.subjectId === taskId,
  ).length;

describe('a budget in the real program', { timeout: 120_000 }, () => {
  it('alerts at 90 %, stops at 100 %, survives a restart, continues when raised', async () => {
    write(config(`budget: { dailyUsd: 10, monthlyUsd: 100, timeZone: ${noon} }`));
    const first = await machine.up(root);
    const one = await machine.json<{ id: string }>(['task', 'add', 'The dear one'], root);
    expect((await alerted('budget_90')).body).toMatchObject({ severity: 'error' });
    const two = await machine.json<{ id: string }>(['task', 'add', 'The one that comes too late'], root);
    expect(await ownAccount()).toMatchObject({ daily: { spentUsd: 9.1 }, stopped: expect.stringContaining('90 %') });

    give('more');
    const stop = await machine.event('emergency.executed');
    expect(stop.body).toMatchObject({ by: { kind: 'engine', name: 'budget' }, workers: ['agent-1'], tasks: [1] });
    expect((await alerted('budget_100')).body).toMatchObject({ severity: 'critical' });
    await machine.event('task.waiting', (body) => body.taskId === one.id);
    const shown = await machine.json<TaskDetail>(['task', 'show', '1'], root);
    expect(shown.task).toMatchObject({ stage: 'implement', lease: null, waiting: expect.stringContaining('budget') });
    expect(repository.git('show', `${shown.task.branch}:work-1.txt`)).toBe('half');
    expect(await claimsOf(two.id)).toBe(0);
    await machine.run(['stop'], root);
    await first.ended;

    const second = await machine.up(root);
    const account = await ownAccount();
    expect(account.daily.spentUsd).toBeCloseTo(10.6);
    expect(account.daily.reservedUsd).toBe(0);
    expect(account.stopped).toContain('used up');
    expect(await claimsOf(one.id)).toBe(1);
    expect(await claimsOf(two.id)).toBe(0);

    // From here on the agents do not say what a request costs: it counts half a dollar.
    give('cheap');
    write(config(`budget: { dailyUsd: 40, monthlyUsd: 100, timeZone: ${noon} }`));
    for (const { id } of [one, two])
      await machine.event('task.moved', (body) => body.to === 'done' && body.taskId === id);
    expect((await ownAccount()).daily.spentUsd).toBeCloseTo(11.6);
    const metrics = await machine.json<MetricsView>(['metrics', '--period', '7d'], root);
    expect(metrics).toMatchObject({ isStale: false, total: { completed: 2 } });
    expect(metrics.total.costUsd).toBeCloseTo(11.6);
    expect(repository.git('show', 'main:work-2.txt')).toBe('whole');
    await machine.run(['stop'], root);
    await second.ended;
  });

  it('the limit of all projects also stops and releases work automatically', async () => {
    write(config(`budget: { dailyUsd: 100, monthlyUsd: 1000, timeZone: ${noon} }`));
    await machine.run(['budget', '--total-daily', '9', '--total-monthly', '1000', '--time-zone', noon], root);
    await machine.up(root);
    const one = await machine.json<{ id: string }>(['task', 'add', 'The dear one'], root);
    expect((await alerted('budget_100')).body).toMatchObject({ text: expect.stringContaining('all projects') });
    const { seq } = await machine.event('task.waiting', (body) => body.taskId === one.id);
    give('cheap');
    await machine.run(['budget', '--total-daily', '50'], root);
    await machine.event('task.moved', (body) => body.to === 'done', seq);
  });
});

describe('settings of a running program', { timeout: 120_000 }, () => {
  const builders = (status: ProjectStatus) => status.workers.filter(({ role }) => role === 'builder').length;

  it('impossible values are replaced, and reported on the terminal, in the status and as an alert', async () => {
    write(config('budget: { dailyUsd: -5, monthlyUsd: 0, timeZone: Mars/Base }').replace('workers: 2', 'workers: 11'));
    const daemon = await machine.up(root);
    const status = await machine.json<ProjectStatus>(['status'], root);
    expect(builders(status)).toBe(10);
    for (const warning of ['workers is 11', 'budget.dailyUsd is -5', 'budget.monthlyUsd is 0', 'Mars/Base']) {
      expect(status.warnings.join('\n')).toContain(warning);
      expect(daemon.stderr()).toContain(warning);
    }
    expect((await alerted('config_adjusted')).body).toMatchObject({ severity: 'warning' });
    expect((await ownAccount()).limits).toEqual({ dailyUsd: 50, monthlyUsd: 500 });
    expect(readFileSync(join(machine.data, 'daemon.log'), 'utf8')).toContain('workers is 11');
  });

  it('a changed file takes effect without a restart; an invalid one is reported and changes nothing', async () => {
    write(config(''));
    await machine.up(root);
    write(config('budget: { dailyUsd: 7, monthlyUsd: 70 }').replace('workers: 2', 'workers: 4'));
    await machine.event('worker.registered', (body) => body.name === 'agent-4');
    expect((await ownAccount()).limits).toEqual({ dailyUsd: 7, monthlyUsd: 70 });
    write('workers: [');
    await alerted('config_invalid');
    const status = await machine.json<ProjectStatus>(['status'], root);
    expect(builders(status)).toBe(4);
    expect(status.warnings.join()).toContain('The previous settings stay in effect');
    write(config('').replace('workers: 2', 'workers: 1'));
    await machine.event('worker.removed', (body) => body.workerId.endsWith('/agent-4'));
    await machine.event('worker.removed', (body) => body.workerId.endsWith('/agent-2'));
    await expect
      .poll(async () => (await machine.json<ProjectStatus>(['status'], root)).warnings, { timeout: 60_000 })
      .toEqual([]);
  });
});

describe('figures for others', { timeout: 120_000 }, () => {
  it('are available to Prometheus with the token, and sent to a collector', async () => {
    const bodies: string[] = [];
    const collector = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString('utf8');
      });
      request.on('end', () => {
        bodies.push(body);
        response.end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    give('cheap');
    await machine.run(['budget', '--time-zone', noon], root);
    write(config(`telemetry: { otlp: "http://127.0.0.1:${port}/v1/metrics" }`));
    const daemon = await machine.up(root);
    await machine.run(['task', 'add', 'Something to count'], root);
    await machine.event('task.moved', (body) => body.to === 'done');
    const { token } = JSON.parse(readFileSync(join(machine.data, 'daemon.json'), 'utf8')) as { token: string };
    expect((await fetch(`${daemon.url}/metrics`)).status).toBe(401);
    const answer = await fetch(`${daemon.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(text).toMatch(/tidemill_tasks_completed\{project="the mill",worker="all",period="24h"\} 1\n/);
    expect(text).toMatch(/tidemill_budget_spent_usd\{project="all",period="daily"\} 0\.5\n/);
    await machine.run(['stop'], root);
    await daemon.ended;
    collector.close();
    expect(bodies.join('')).toContain('tidemill.tasks.completed');
  });
});
