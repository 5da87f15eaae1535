import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { STREAM_PATH } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { WebSocket } from 'ws';
import { addressOf, makeProject, startDaemon } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, percentile } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const CLIENTS = 50;
const EVENTS_PER_SECOND = 100;
/** Linux counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** What many open pages cost the daemon: the same events with and without them, in turns. */
export async function run(options: BenchOptions): Promise<Section> {
  if (process.platform !== 'linux') throw new Error('processor time is read from /proc, which only Linux has');
  const seconds = sized(options, 10, 2);
  return inTemporaryFolder(async (folder) => {
    const [root, home] = [join(folder, 'repository'), join(folder, 'home')];
    await makeProject(root);
    const daemon = await startDaemon(root, home);
    try {
      const target = await openTarget(home, root);
      await target.fill(sized(options, 10_000, 500));
      // What a first connection compiles and a first page reads is not what an open page costs.
      await withDashboards(target, () => load(target, daemon.pid, 2));
      const lags: number[] = [];
      const shares = await interleaved(sized(options, 4, 1), {
        alone: () => load(target, daemon.pid, seconds),
        watched: () => withDashboards(target, () => load(target, daemon.pid, seconds), lags),
      });
      const [alone, watched] = [median(shares.alone), median(shares.watched)];
      return {
        name: 'dashboards',
        title: `${CLIENTS} open dashboards at ${EVENTS_PER_SECOND} events a second`,
        rows: [
          row({
            ...{ name: 'processor time of the daemon for them', value: Math.max(0, watched - alone), unit: '%' },
            target: { atMost: 20 },
          }),
          row({
            ...{ name: 'processor time of the daemon in all', value: watched, unit: '%' },
            peer: { name: 'the same events, nobody looking', value: alone },
          }),
          row({ name: 'an event from its commit to a dashboard, median', value: median(lags), unit: 'ms' }),
          row({
            ...{ name: 'an event from its commit to a dashboard, p99', value: percentile(lags, 0.99), unit: 'ms' },
            target: { atMost: 200 },
          }),
        ],
        notes: [
          `100 % is one core. Each event is a task that is added over HTTP; every dashboard gets the events, the changed tasks and the status. ${target.count()} tasks at the end.`,
        ],
      };
    } finally {
      await daemon.stop();
    }
  });
}

interface Target {
  url: string;
  token: string;
  project: string;
  add(): Promise<unknown>;
  fill(tasks: number): Promise<void>;
  count(): number;
}

/** A project that is known but not worked on: what is added stays where it is. */
async function openTarget(home: string, root: string): Promise<Target> {
  const { url, token } = await addressOf(home);
  const api = createClient({ url, token });
  await makeProject(`${root}-watched`);
  const { id: project } = await api.registerProject({ root: `${root}-watched` });
  let count = 0;
  const task = () => {
    count += 1;
    return { title: `Sort the tide table by height, part ${count}`, accept: ['it is sorted'] };
  };
  return {
    ...{ url, token, project, count: () => count },
    add: () => api.addTask({ project, ...task() }),
    async fill(tasks) {
      for (let left = tasks; left > 0; left -= 1000)
        await api.importTasks({ project, tasks: Array.from({ length: Math.min(left, 1000) }, task) });
    },
  };
}

/** Events at an even pace; the daemon's share of a core meanwhile, in percent. */
async function load(target: Target, pid: number, seconds: number): Promise<number> {
  const before = await processorSeconds(pid);
  const startedAt = performance.now();
  const calls: Promise<unknown>[] = [];
  for (let index = 0; index < seconds * EVENTS_PER_SECOND; index += 1) {
    const dueAt = startedAt + (index * 1000) / EVENTS_PER_SECOND;
    const early = dueAt - performance.now();
    if (early > 0) await delay(early);
    calls.push(target.add());
  }
  await Promise.all(calls);
  const passed = (performance.now() - startedAt) / 1000;
  return (((await processorSeconds(pid)) - before) / passed) * 100;
}

async function withDashboards(
  { url, token, project }: Target,
  work: () => Promise<number>,
  lags: number[] = [],
): Promise<number> {
  const sockets = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${STREAM_PATH}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      const isReady = new Promise((resolve) => socket.once('message', resolve));
      socket.send(JSON.stringify({ type: 'subscribe', project, views: true }));
      await isReady;
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString());
        if (message.type === 'events') for (const { at } of message.events) lags.push(Date.now() - at);
      });
      return socket;
    }),
  );
  try {
    return await work();
  } finally {
    for (const socket of sockets) socket.terminate();
  }
}

/** Of the process alone: the git that stays beside it does nothing here. */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name may hold spaces and parentheses; the fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
