import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';

const AGENT = `
import { readFileSync, writeFileSync } from 'node:fs';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
writeFileSync('work-' + task.number + '.txt', task.title);
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'wrote it' }));
`;
const CONFIG = `target: main
workers: 2
pipeline: quick
agents: { default: { type: command, command: [${JSON.stringify(process.execPath)}, agent.mjs] } }
gates: [{ name: test, run: "true" }]
`;

let served: ServedDaemon;
beforeAll(async () => {
  served = await ServedDaemon.start();
});
afterAll(() => served.close());

const path = (rest: string) => `/v1/projects/${served.project}/${rest}`;

/** Follows the links to the end. */
async function walk<T>(start: string): Promise<{ items: T[]; pages: number }> {
  const items: T[] = [];
  let pages = 0;
  for (let next: string | undefined = start; next !== undefined; ) {
    const { status, text, headers } = await served.ask(next);
    expect(status).toBe(200);
    items.push(...(JSON.parse(text) as T[]));
    pages += 1;
    next = /^<([^>]+)>; rel="next"$/.exec(String(headers.link ?? ''))?.[1];
  }
  return { items, pages };
}

describe('lists in pages', () => {
  test('have each task once, in order, with the filter kept', async () => {
    const list = Array.from({ length: 25 }, (_, index) => ({ title: `Page ${index}`, pipeline: 'quick' }));
    await served.api.importTasks({ project: served.project, tasks: list });
    const all = Array.from({ length: 25 }, (_, index) => index + 1);
    const { items, pages } = await walk<{ number: number }>(path('tasks?limit=7'));
    expect({ numbers: items.map(({ number }) => number), pages }).toEqual({ numbers: all, pages: 4 });
    // The last page is full, so only an empty one tells that there is no more.
    expect((await walk(path('tasks?limit=5&stages=open,blocked'))).pages).toBe(6);
    expect((await walk(path('tasks?limit=10&stages=done'))).items).toEqual([]);
    for (const limit of ['0', '1001', '-1', 'many']) {
      expect((await served.ask(path(`tasks?limit=${limit}`))).status).toBe(400);
    }
    await served.api.bulkTasks({ project: served.project, tasks: all, operation: 'cancel' });
  });

  test('have each piece of evidence once, in the order of its chain', async () => {
    served.repository.write({ 'agent.mjs': AGENT, '.tidemill/config.yaml': CONFIG });
    served.repository.git('add', '-A');
    served.repository.git('commit', '-q', '-m', 'An agent');
    await served.api.importTasks({ project: served.project, tasks: [{ title: 'One' }, { title: 'Two' }] });
    const over = new AbortController();
    const landed = (async () => {
      let count = 0;
      const types = ['merge.landed'];
      for await (const _ of served.api.events({ project: served.project, follow: true, types }, over.signal))
        if (++count === 2) return;
    })();
    await served.daemon.attach(served.repository.root);
    await landed;
    over.abort();
    const all = await served.api.evidence({ project: served.project });
    expect(all.length).toBeGreaterThan(2);
    const { items, pages } = await walk<{ hash: string }>(path('evidence?limit=1'));
    expect(items.map(({ hash }) => hash)).toEqual(all.map(({ hash }) => hash));
    expect(pages).toBe(all.length + 1);
    const first = await walk<{ taskId: string }>(path('evidence?limit=1&task=26'));
    expect(new Set(first.items.map(({ taskId }) => taskId)).size).toBe(1);
  }, 60_000);
});
