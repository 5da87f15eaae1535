import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';
import { Follower } from '../connection/follower.ts';
import { outputFrom } from './run-output.ts';

const LINES = 20_000;

let served: ServedDaemon;
/** Its folder is one that agents may read. */
const doorOf = ({ repository }: ServedDaemon) => join(repository.root, '.doors', 'end');
let follower: Follower;
const moved = new Set<() => void>();

beforeAll(async () => {
  served = await ServedDaemon.start();
  const door = doorOf(served);
  mkdirSync(dirname(door));
  const print = `seq 1 ${LINES} | sed 's/$/ ä€😀/'; until [ -e '${door}' ]; do sleep 0.05; done; echo the end`;
  served.repository.write({
    '.tidemill/config.yaml': `target: main
pipeline: quick
workers: 1
readable: [.doors]
agents:
  default: { type: command, command: ["sh", "-c", ${JSON.stringify(print)}] }
gates: [ { name: test, run: "true" } ]
`,
  });
  served.repository.git('commit', '-q', '-a', '-m', 'Settings');
  await served.daemon.attach(served.repository.root);
  await served.api.addTask({ project: served.project, title: 'Print a lot' });
  follower = new Follower({
    dataFolder: served.home,
    root: served.repository.root,
    wanted: () => new Set(),
    onChange: () => {
      for (const listener of moved) listener();
    },
    isTrusted: () => true,
    onProblem: () => undefined,
  });
  follower.start();
});
afterAll(async () => {
  follower.close();
  await served.close();
});

const runs = async () => (await served.api.task({ project: served.project, task: 1 })).runs;

/** Cuts every answer after some bytes, as a daemon that is killed does. */
function cutting(bytes: number): Api {
  const part: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (!String(url).includes('/log')) return response;
    const reader = response.body!.getReader();
    let left = bytes;
    const body = new ReadableStream({
      async pull(controller) {
        const { value, done } = await reader.read();
        if (done) return controller.close();
        controller.enqueue(value.subarray(0, left));
        left -= value.length;
        if (left > 0) return;
        await reader.cancel();
        controller.error(new Error('cut'));
      },
    });
    return new Response(body, response);
  };
  return createClient({ url: served.url, token: served.token, fetch: part });
}

test('the output of a run goes on after a lost connection and a restart, with nothing twice or missing', async () => {
  const { until, text, stop } = await follow();
  await until((all) => all.includes(`\n${LINES} `));
  expect(text()).toBe(Array.from({ length: LINES }, (_, at) => `${at + 1} ä€😀\n`).join(''));

  await served.restart();
  await served.daemon.attach(served.repository.root);
  // The daemon ended the run when it stopped; the task's next run follows.
  const first = text().length;
  await until((all) => all.length > first && all.slice(first).includes(`\n${LINES} `));
  const [, second, ...others] = text().split('— the next run —\n');
  expect(others).toEqual([]);
  expect(second?.startsWith('1 ä€😀\n2 ä€😀\n')).toBe(true);

  writeFileSync(doorOf(served), '');
  await until((all) => all.endsWith('the end\n— the run has ended —\n'));
  stop();
});

async function follow() {
  await vi.waitUntil(async () => (await runs()).length > 0, { timeout: 20_000 });
  const run = (await runs())[0]!.id;
  const closing = new AbortController();
  let all = '';
  let look: () => void = () => undefined;
  let tries = 0;
  const source = {
    connected: async () => cutting(100_000 + 40_000 * tries++),
    onMoved: (_: number, listener: () => void) => {
      moved.add(listener);
      return { dispose: () => moved.delete(listener) };
    },
  };
  const reading = (async () => {
    for await (const part of outputFrom(source, { project: served.project, task: 1, run }, closing.signal)) {
      all += 'text' in part ? part.text : `— ${part.note} —\n`;
      look();
    }
  })().catch((error: unknown) => {
    if (!closing.signal.aborted) throw error;
  });
  const until = (isSo: (all: string) => boolean) =>
    Promise.race([
      reading,
      new Promise<void>((resolve) => {
        look = () => isSo(all) && resolve();
        look();
      }),
    ]);
  return { until, text: () => all, stop: () => closing.abort() };
}
