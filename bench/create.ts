import { join } from 'node:path';
import { startProgram } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { type Row, row, type Section } from './row.ts';
import { concurrently, interleaved, median, percentile, perSecond, timed } from './sample.ts';
import { withServedProject } from './served-project.ts';

const CLIENTS = [1, 50];
const TASK = {
  title: 'Sort the tide table by height',
  body: 'The table is sorted by time. Sort it by height when `--by height` is given.',
  accept: ['`--by height` sorts by height', 'the default stays by time'],
};

/** Creating tasks through the client and the HTTP API the CLI uses. */
export async function run(options: BenchOptions): Promise<Section> {
  return withServedProject(async ({ folder, api, project }) => {
    const bare = await startProgram([join(import.meta.dirname, 'bare-server.ts'), join(folder, 'bare.db')], folder);
    try {
      const ours = async () => void (await api.addTask({ project, ...TASK }));
      const theirs = async () => {
        const headers = { 'content-type': 'application/json' };
        await (await fetch(bare.line, { method: 'POST', headers, body: JSON.stringify(TASK) })).json();
      };
      await burst(ours, 50, 500);
      await burst(theirs, 50, 500);
      const rows: Row[] = [];
      for (const clients of CLIENTS) rows.push(...(await compare(options, clients, ours, theirs)));
      return {
        name: 'create',
        title: 'Creating tasks over the API',
        rows,
        notes: ['The bench is the client of both, over fetch, on the same two cores as the servers.'],
      };
    } finally {
      await bare.stop();
    }
  });
}

async function compare(
  options: BenchOptions,
  clients: number,
  ours: () => Promise<void>,
  theirs: () => Promise<void>,
): Promise<Row[]> {
  const count = sized(options, clients === 1 ? 500 : 2000, 100);
  const latencies = { ours: [] as number[], theirs: [] as number[] };
  const rates = await interleaved(sized(options, 5, 1), {
    ours: () => burst(ours, clients, count, latencies.ours),
    theirs: () => burst(theirs, clients, count, latencies.theirs),
  });
  const name = `${clients} ${clients === 1 ? 'client' : 'clients'}`;
  const peer = (value: number) => ({ name: 'node:http and one INSERT with fsync', value });
  const latency = (p: number) => ({
    value: percentile(latencies.ours, p),
    unit: 'ms',
    peer: peer(percentile(latencies.theirs, p)),
  });
  return [
    row({ name: `${name}: throughput`, value: median(rates.ours), unit: '/s', peer: peer(median(rates.theirs)) }),
    row({ name: `${name}: median`, ...latency(0.5) }),
    row({ name: `${name}: p99`, ...latency(0.99) }),
  ];
}

/** `count` calls by that many clients at once; answers calls per second. */
async function burst(call: () => Promise<void>, clients: number, count: number, latencies: number[] = []) {
  let left = count;
  const ms = await timed(() =>
    concurrently(clients, async () => {
      if (left-- <= 0) return false;
      latencies.push(await timed(call));
      return true;
    }),
  );
  return perSecond(count, ms);
}
