import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BudgetBed, noon } from '../support/budget-bed.ts';
import type { TidemillHome } from '../support/tidemill-home.ts';

let bed: BudgetBed;
let machine: TidemillHome;
let root: string;
beforeEach(() => {
  bed = new BudgetBed();
  ({ machine, root } = bed);
});
afterEach(() => bed.close());

describe('a budget of all projects', { timeout: 120_000 }, () => {
  it('the limit of all projects also stops and releases work automatically', async () => {
    bed.write(bed.config(`budget: { dailyUsd: 100, monthlyUsd: 1000, timeZone: ${noon} }`));
    await machine.run(['budget', '--total-daily', '9', '--total-monthly', '1000', '--time-zone', noon], root);
    await machine.up(root);
    const one = await bed.add('The dear one');
    expect((await bed.alerted('budget_100')).body).toMatchObject({ text: expect.stringContaining('all projects') });
    const { seq } = await machine.event('task.waiting', (body) => body.taskId === one.id);
    bed.give('cheap');
    await machine.run(['budget', '--total-daily', '50'], root);
    await machine.event('task.moved', (body) => body.to === 'done', seq);
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
    bed.give('cheap');
    await machine.run(['budget', '--time-zone', noon], root);
    bed.write(bed.config(`telemetry: { otlp: "http://127.0.0.1:${port}/v1/metrics" }`));
    const daemon = await machine.up(root);
    await bed.add('Something to count');
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
