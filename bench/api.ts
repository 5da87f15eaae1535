import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startProgram } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { PlainConnection } from './plain-connection.ts';
import { type Row, row, type Section } from './row.ts';
import { concurrently, interleaved, median, percentile, perSecond, timed } from './sample.ts';
import { withServedProject } from './served-project.ts';

const TASKS = 1000;
const CLIENTS = 50;
const PAGE = 50;
/** Requests per second of one client: a busy page or a busy agent does less. */
const PACE = 10;
/** As published or measured elsewhere; their programs do not run here. */
const PAPERCLIP_CREATE = { name: 'Paperclip: create, median, as stated', value: 22 };
const OPENSPRINT_READS = { name: 'OpenSprint: sequential reads, as stated', value: 2073 };

/** A real daemon with a thousand tasks, and fifty clients at once. */
export async function run(options: BenchOptions): Promise<Section> {
  return withServedProject(async ({ folder, url, token, api, project }) => {
    const server = join(import.meta.dirname, 'bare-server.ts');
    const echo = await startProgram([server], folder);
    const keep = await startProgram([server, join(folder, 'bare.db')], folder);
    try {
      const list = Array.from({ length: TASKS }, (_, index) => ({ title: `Task ${index}`, accept: ['It is done'] }));
      await api.importTasks({ project, tasks: list });
      return await measure(options, { url, token, project, echo: echo.line, keep: keep.line });
    } finally {
      await Promise.all([echo.stop(), keep.stop()]);
    }
  });
}

interface Place {
  url: string;
  token: string;
  project: string;
  /** Bare servers: one that answers with what it was sent, one that also keeps it. */
  echo: string;
  keep: string;
}

async function measure(options: BenchOptions, { url, token, project, echo, keep }: Place): Promise<Section> {
  const at = `/v1/projects/${project}`;
  const headers = { authorization: `Bearer ${token}` };
  const created = JSON.stringify({ title: 'One more', body: 'Sort it by height.', accept: ['It is sorted'] });
  const page = () => `${at}/tasks?limit=${PAGE}&afterNumber=${upTo(TASKS - PAGE)}`;
  const task = () => `${at}/tasks/${1 + upTo(TASKS - 1)}`;
  const reads: [name: string, path: () => string][] = [
    ['status', () => `${at}/status`],
    [`${PAGE} tasks`, page],
    ['task', task],
  ];
  const rows: Row[] = [];
  for (const [name, path] of reads) {
    const ours = { url, headers, request: () => ({ method: 'GET', path: path() }) };
    rows.push(...(await compare(options, name, 10, ours, bareOf(echo, '{}', 'node:http that answers {}'))));
  }
  const creating = { url, headers, request: () => ({ method: 'POST', path: `${at}/tasks`, body: created }) };
  const keeper = bareOf(keep, created, 'node:http and one INSERT with fsync');
  rows.push(...(await compare(options, 'create', 25, creating, keeper)));
  const median50 = rows.find(({ name }) => name.startsWith('create: p50'))!.value;
  rows.push(row({ name: 'create, median', value: median50, unit: 'ms', peer: PAPERCLIP_CREATE }));
  const reading = { url, headers, request: () => ({ method: 'GET', path: task() }) };
  const alone = await burst(reading, 1, sized(options, 4000, 200));
  rows.push(
    row({
      name: 'task, 1 client in sequence',
      value: alone,
      unit: '/s',
      peer: OPENSPRINT_READS,
      target: { atLeast: 2500 },
    }),
  );
  return {
    name: 'api',
    title: `The API with ${TASKS} tasks and ${CLIENTS} clients`,
    rows,
    notes: [
      `Latencies: each client asks ${PACE} times a second, ${CLIENTS * PACE} requests a second in all. Without a pause: each asks again as soon as it is answered, so that fifty requests always wait and a latency is fifty times what one takes. The clients run in the bench, on the same cores as the servers.`,
      'Figures of other products are as stated by others, on other machines.',
    ],
  };
}

const upTo = (most: number) => Math.floor(Math.random() * (most + 1));

interface Asked {
  url: string;
  headers?: Record<string, string>;
  request(): { method: string; path: string; body?: string };
}

/** The bare server only knows how to take a body. */
const bareOf = (url: string, body: string, name: string): Asked & { name: string } => ({
  url,
  name,
  request: () => ({ method: 'POST', path: '/', body }),
});

async function compare(
  options: BenchOptions,
  name: string,
  atMost: number,
  ours: Asked,
  bare: Asked & { name: string },
): Promise<Row[]> {
  const paced = { ours: [] as number[], bare: [] as number[] };
  const full = { ours: [] as number[], bare: [] as number[] };
  const count = sized(options, 4000, 200);
  const perClient = sized(options, 40, 4);
  for (const each of [ours, bare]) await burst(each, CLIENTS, sized(options, 2000, 100));
  await interleaved(sized(options, 3, 1), {
    ours: () => stroll(ours, perClient, paced.ours),
    bare: () => stroll(bare, perClient, paced.bare),
  });
  const rates = await interleaved(sized(options, 3, 1), {
    ours: () => burst(ours, CLIENTS, count, full.ours),
    bare: () => burst(bare, CLIENTS, count, full.bare),
  });
  const of = (samples: typeof paced, p: number) => ({
    value: percentile(samples.ours, p),
    unit: 'ms',
    peer: { name: bare.name, value: percentile(samples.bare, p) },
  });
  const rate = { value: median(rates.ours), unit: '/s', peer: { name: bare.name, value: median(rates.bare) } };
  return [
    row({ name: `${name}: p50`, ...of(paced, 0.5) }),
    row({ name: `${name}: p99`, ...of(paced, 0.99), target: { atMost } }),
    row({ name: `${name}: p99 without a pause`, ...of(full, 0.99) }),
    row({ name: `${name}: rate without a pause`, ...rate }),
  ];
}

async function ask(line: PlainConnection, { headers = {}, request }: Asked, times: number[]): Promise<void> {
  const { method, path, body } = request();
  const startedAt = performance.now();
  const status = await line.ask(method, path, headers, body);
  times.push(performance.now() - startedAt);
  if (status !== 200) throw new Error(`${method} ${path} was answered with ${status}`);
}

/** Every client at its pace, none in step with another. */
async function stroll(asked: Asked, perClient: number, times: number[]): Promise<number> {
  return withLines(asked.url, CLIENTS, (lines) =>
    timed(() =>
      Promise.all(
        lines.map(async (line) => {
          const startedAt = performance.now() + Math.random() * (1000 / PACE);
          for (let turn = 0; turn < perClient; turn += 1) {
            const wait = startedAt + (turn * 1000) / PACE - performance.now();
            if (wait > 0) await delay(wait);
            await ask(line, asked, times);
          }
        }),
      ),
    ),
  );
}

/** `count` requests by that many clients at once; answers requests per second. */
async function burst(asked: Asked, clients: number, count: number, times: number[] = []): Promise<number> {
  return withLines(asked.url, clients, async (lines) => {
    let left = count;
    const ms = await timed(() =>
      concurrently(clients, async (lane) => {
        if (left-- <= 0) return false;
        await ask(lines[lane]!, asked, times);
        return true;
      }),
    );
    return perSecond(count, ms);
  });
}

async function withLines<T>(url: string, count: number, work: (lines: PlainConnection[]) => Promise<T>): Promise<T> {
  const lines = Array.from({ length: count }, () => new PlainConnection(url));
  try {
    return await work(lines);
  } finally {
    for (const line of lines) line.close();
  }
}
