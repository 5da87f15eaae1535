import { STREAM_PATH } from '@tidemill/contract';
import { WebSocket } from 'ws';
import { processorSeconds } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, paced, percentile } from './sample.ts';
import { type ServedProject, withServedProject } from './served-project.ts';

const CLIENTS = 50;
const EVENTS_PER_SECOND = 100;

/** What many open pages cost the daemon: the same events with and without them, in turns. */
export async function run(options: BenchOptions): Promise<Section> {
  if (process.platform !== 'linux') throw new Error('processor time is read from /proc, which only Linux has');
  const seconds = sized(options, 10, 2);
  return withServedProject(async (served) => {
    const target = targetIn(served);
    await target.fill(sized(options, 10_000, 500));
    // What a first connection compiles and a first page reads is not what an open page costs.
    await withDashboards(target, () => load(target, 2));
    const lags: number[] = [];
    const shares = await interleaved(sized(options, 4, 1), {
      alone: () => load(target, seconds),
      watched: () => withDashboards(target, () => load(target, seconds), lags),
    });
    const [alone, watched] = [median(shares.alone), median(shares.watched)];
    return {
      name: 'dashboards',
      title: `${CLIENTS} open dashboards at ${EVENTS_PER_SECOND} events a second`,
      rows: [
        row({
          name: 'processor time of the daemon for them',
          value: Math.max(0, watched - alone),
          unit: '%',
          target: { atMost: 20 },
        }),
        row({
          name: 'processor time of the daemon in all',
          value: watched,
          unit: '%',
          peer: { name: 'the same events, nobody looking', value: alone },
        }),
        row({ name: 'an event from its commit to a dashboard, median', value: median(lags), unit: 'ms' }),
        row({
          name: 'an event from its commit to a dashboard, p99',
          value: percentile(lags, 0.99),
          unit: 'ms',
          target: { atMost: 200 },
        }),
      ],
      notes: [
        `100 % is one core. Each event is a task that is added over HTTP; every dashboard gets the events, the changed tasks and the status. ${target.count()} tasks at the end.`,
      ],
    };
  });
}

interface Target extends ServedProject {
  add(): Promise<unknown>;
  fill(tasks: number): Promise<void>;
  count(): number;
}

function targetIn(served: ServedProject): Target {
  const { api, project } = served;
  let count = 0;
  const task = () => {
    count += 1;
    return { title: `Sort the tide table by height, part ${count}`, accept: ['it is sorted'] };
  };
  return {
    ...served,
    count: () => count,
    add: () => api.addTask({ project, ...task() }),
    async fill(tasks) {
      for (let left = tasks; left > 0; left -= 1000)
        await api.importTasks({ project, tasks: Array.from({ length: Math.min(left, 1000) }, task) });
    },
  };
}

/** Events at an even pace; the daemon's share of a core meanwhile, in percent. */
async function load(target: Target, seconds: number): Promise<number> {
  const before = await processorSeconds(target.pid);
  const startedAt = performance.now();
  await paced(EVENTS_PER_SECOND, seconds, () => target.add());
  const passed = (performance.now() - startedAt) / 1000;
  return (((await processorSeconds(target.pid)) - before) / passed) * 100;
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
