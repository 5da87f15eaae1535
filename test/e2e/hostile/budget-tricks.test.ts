import { type AccountView, type Api, type EventBody, UNKNOWN_REQUEST_USD, type Usage } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TidemillHome } from '../../support/tidemill-home.ts';
import { TemporaryRepository } from '../cli-repository.ts';

/** Runs the trick in its task's body. It changes no file, so each task is one run. */
const AGENT = `
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'node:child_process';
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { task } = JSON.parse(input);
const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve));
const usage = (more) => write(JSON.stringify({ tidemill: 'usage', ...more }) + '\\n');
const done = () => write(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' }) + '\\n');
const AsyncFunction = (async () => {}).constructor;
await new AsyncFunction('write', 'usage', 'done', 'sleep', 'spawn', task.body)(write, usage, done, sleep, spawn);
`;

/** A time zone where it is about noon now, so that no test runs over midnight. */
const hour = new Date().getUTCHours();
const noon = `Etc/GMT${hour >= 12 ? `+${hour - 12}` : `-${12 - hour}`}`;
const LIMIT = 10;
const MINUTE = 60_000;

const configOf = (dailyUsd: number, workers: number, more = '') => `target: main
pipeline: quick
workers: ${workers}
budget: { dailyUsd: ${dailyUsd}, monthlyUsd: ${dailyUsd * 10}, timeZone: ${noon} }
agents:
  default: { type: command, command: [${JSON.stringify(process.execPath)}, agent.mjs]${more} }
gates: []
`;

interface Project {
  id: string;
  root: string;
}

const machine = new TidemillHome();
const repositories: TemporaryRepository[] = [];
let api: Api;

function repositoryWith(config: string): TemporaryRepository {
  const repository = new TemporaryRepository({ '.tidemill/config.yaml': config, 'agent.mjs': AGENT });
  repositories.push(repository);
  return repository;
}

async function attach(config: string): Promise<Project> {
  const { root } = repositoryWith(config);
  const { project } = await api.attachProject({ root });
  return { id: project.id, root };
}

beforeAll(async () => {
  await machine.up(repositoryWith(configOf(1_000, 1)).root);
  api = machine.api();
  const [first] = await api.projects({});
  await api.limitBudget({ project: first!.id, dailyUsd: 100_000, monthlyUsd: 1_000_000, timeZone: noon });
}, MINUTE);
afterAll(async () => {
  await machine.close();
  for (const repository of repositories) repository.remove();
});

/** How the first run of each of these tasks ended, by the task's title. */
async function runsOf(project: Project, tasks: { title: string; body: string }[]): Promise<Map<string, Usage>> {
  const titles = new Map<string, string>();
  for (const task of tasks) titles.set((await api.addTask({ project: project.id, ...task })).id, task.title);
  const ended = new Map<string, Usage>();
  for await (const body of follow(project, ['run.finished'])) {
    const title = body.type === 'run.finished' && titles.get(body.subjectId);
    if (title && !ended.has(title)) ended.set(title, body.usage);
    if (ended.size === tasks.length) break;
  }
  return ended;
}

async function* follow(project: Project, types: EventBody['type'][]): AsyncGenerator<EventBody> {
  const over = new AbortController();
  try {
    for await (const { body } of api.events({ project: project.id, follow: true, types }, over.signal)) yield body;
  } finally {
    over.abort();
  }
}

const accountOf = async ({ id }: Project) => (await api.budget({})).find(({ projectId }) => projectId === id)!;

/** Every number that a person sees. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

const ONE = UNKNOWN_REQUEST_USD;
/** What an agent prints, and what is booked for it. */
const LIES: [title: string, body: string, bookedUsd: number][] = [
  ['one line of 1e308', `await usage({ costUsd: 1e308 }); await done()`, ONE],
  ['two lines of 1e308', `await usage({ costUsd: 1e308 }); await usage({ costUsd: 1e308 }); await done()`, 2 * ONE],
  ['tokens of 1e308, twice', `for (const _ of '12') await usage({ inputTokens: 1e308 }); await done()`, 2 * ONE],
  ['a negative price', `await usage({ costUsd: -1000 }); await done()`, ONE],
  [
    'a negative price to take back what was told',
    `await usage({ costUsd: 2 }); await usage({ costUsd: -2 }); await done()`,
    2 + ONE,
  ],
  ['NaN', `await write('{"tidemill":"usage","costUsd":NaN}\\n'); await done()`, ONE],
  ['more than a number can hold', `await write('{"tidemill":"usage","costUsd":1e400}\\n'); await done()`, ONE],
  ['a price in words', `await usage({ costUsd: '3' }); await done()`, ONE],
  ['a price in a list', `await usage({ costUsd: [0] }); await done()`, ONE],
  ['digits of another script', `await write('{"tidemill":"usage","costUsd":٣}\\n'); await done()`, ONE],
  ['half a token', `await usage({ costUsd: 0, inputTokens: 1.5 }); await done()`, ONE],
  ['whole numbers of 300 digits', `await usage({ costUsd: 0, requests: 1e300 }); await done()`, ONE],
  ['less than no requests', `await usage({ costUsd: 0, requests: -1 }); await done()`, ONE],
  ['nothing at all', `await done()`, ONE],
  ['a crash without a word', `process.exit(1)`, ONE],
  [
    'a message inside a string',
    `await write(JSON.stringify(JSON.stringify({ tidemill: 'usage', costUsd: 0 })) + '\\n'); await done()`,
    ONE,
  ],
  [
    'another case',
    `await write('{"Tidemill":"usage","costUsd":0}\\n{"tidemill":"USAGE","costUsd":0}\\n'); await done()`,
    ONE,
  ],
  ['the word that it is free', `await usage({ free: true, isFree: true }); await done()`, ONE],
  ['usage among its errors', `process.stderr.write('{"tidemill":"usage","costUsd":0}\\n'); await done()`, ONE],
  ['a line of 2 MB', `await usage({ costUsd: 0, padding: 'x'.repeat(2_000_000) }); await done()`, ONE],
  ['the same line twice', `await usage({ costUsd: 0.25 }); await usage({ costUsd: 0.25 }); await done()`, 0.5],
  ['less than before', `await usage({ costUsd: 0.75 }); await usage({ costUsd: 0.25 }); await done()`, 1],
  ['usage after the result', `await done(); await usage({ costUsd: 0.25 })`, 0.25],
  ['a line without an end', `await done(); await write('{"tidemill":"usage","costUsd":0.25}')`, 0.25],
  [
    'a line in two pieces',
    `await write('{"tidemill":"us'); await sleep(50); await write('age","costUsd":0.25}\\n'); await done()`,
    0.25,
  ],
  ['five requests without a price', `await usage({ requests: 5 }); await done()`, 5 * ONE],
  // Tidemill accepts the price that an agent reports, because it has no other source.
  ['many tokens at no price', `await usage({ costUsd: 0, inputTokens: 1_000_000 }); await done()`, 0],
];

describe('the cost that an agent reports', { timeout: 3 * MINUTE }, () => {
  it('is booked where it is valid, and as a request of unknown price where it is not', async () => {
    const project = await attach(configOf(1_000, 4));
    const ended = await runsOf(
      project,
      LIES.map(([title, body]) => ({ title, body })),
    );
    const booked = LIES.map(([title]) => [title, ended.get(title)?.costUsd]);
    expect(booked).toEqual(LIES.map(([title, , usd]) => [title, usd]));
    const all = [...ended.values()].reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
    // A crashed one was retried in the meantime.
    expect((await accountOf(project)).daily.spentUsd).toBeGreaterThanOrEqual(all - 1e-6);
    expect((await accountOf(project)).daily.spentUsd).toBeLessThanOrEqual(all + 2 * ONE + 1e-6);
  });

  it('is zero for a free agent, and its price where it reports one', async () => {
    const project = await attach(configOf(1_000, 2, ', free: true'));
    const ended = await runsOf(project, [
      { title: 'silent', body: `await done()` },
      { title: 'unpriced', body: `await usage({ inputTokens: 7 }); await done()` },
      { title: 'priced', body: `await usage({ costUsd: 0.25 }); await done()` },
    ]);
    expect(ended.get('silent')).toMatchObject({ costUsd: null });
    expect(ended.get('unpriced')).toMatchObject({ costUsd: 0, inputTokens: 7 });
    expect(ended.get('priced')).toMatchObject({ costUsd: 0.25 });
  });
});

/** The time a busy machine may need to read a line: a request cannot be stopped before it is reported. */
const SLACK = 3;
const every = (price: string) => `for (;;) { await usage({ costUsd: ${price} }); await sleep(300) }`;
/** Each spends without end, one dollar at a time; `mostUsd` is the most that may be booked at a limit of 10. */
const SPENDERS: [title: string, body: string, mostUsd: number][] = [
  ['ignores that it is to end', `process.on('SIGTERM', () => {}); ${every('1')}`, LIMIT + SLACK],
  [
    'spends more once it is to end',
    `process.on('SIGTERM', () => void usage({ costUsd: 100 })); ${every('1')}`,
    LIMIT + SLACK,
  ],
  [
    'has a child that goes on',
    `const env = { ...process.env, LINE: JSON.stringify({ tidemill: 'usage', costUsd: 1 }) };
      const loop = 'trap "" TERM; while :; do echo "$LINE"; sleep 0.3; done';
      spawn('sh', ['-c', loop], { stdio: 'inherit', detached: true, env }); await sleep(600_000)`,
    LIMIT + SLACK,
  ],
  ['tells nothing that can be read', `for (;;) { await usage({ costUsd: -1 }); await sleep(150) }`, LIMIT + SLACK],
  ['tells a lot too late', `await usage({ costUsd: 50 }); await sleep(600_000)`, 50],
  // The content of the pipe is spent by then: 64 KB of lines, and as much in buffers.
  [
    'tells it in a million lines',
    `for (let n = 0; n < 1_000; n += 1) await write('{"tidemill":"usage","costUsd":0.001}\\n'.repeat(1_000));
      await sleep(600_000)`,
    LIMIT + 10,
  ],
];

describe('an agent that spends without end', { timeout: 3 * MINUTE }, () => {
  /** Waits until the limit has stopped the project's agents; returns what was spent by then. */
  async function stoppedAt(project: Project, agents: number): Promise<AccountView> {
    let waiting = 0;
    for await (const _ of follow(project, ['task.waiting'])) {
      waiting += 1;
      if (waiting === agents) break;
    }
    return accountOf(project);
  }

  it.concurrent.each(SPENDERS)('is frozen at the limit and killed, though it %s', async (title, body, mostUsd) => {
    const project = await attach(configOf(LIMIT, 1));
    await api.addTask({ project: project.id, title, body });
    await api.addTask({ project: project.id, title: 'comes too late', body: `await done()` });
    const { daily, stopped } = await stoppedAt(project, 1);
    expect(daily.spentUsd).toBeGreaterThanOrEqual(LIMIT - 1e-6);
    expect(daily.spentUsd).toBeLessThanOrEqual(mostUsd + 1e-6);
    expect(daily.reservedUsd).toBe(0);
    expect(stopped).toContain('used up');
    const { runs } = await api.task({ project: project.id, task: 2 });
    expect(runs).toEqual([]);
  });

  it.concurrent('applies to several at once: the sum of their reservations never exceeds the limit', async () => {
    const project = await attach(configOf(LIMIT, 4));
    const body = `process.on('SIGTERM', () => {}); ${every('0.4')}`;
    for (const title of ['one', 'two', 'three', 'four']) await api.addTask({ project: project.id, title, body });
    const seen: number[] = [];
    const over = new AbortController();
    const watch = (async () => {
      for await (const _ of api.events({ project: project.id, follow: true, types: ['run.spent'] }, over.signal)) {
        const { daily } = await accountOf(project);
        seen.push(daily.reservedUsd + Math.min(daily.spentUsd, LIMIT));
      }
    })().catch(() => undefined);
    const { daily } = await stoppedAt(project, 4);
    over.abort();
    await watch;
    expect(Math.max(...seen)).toBeLessThanOrEqual(LIMIT + 1e-6);
    expect(daily.spentUsd).toBeGreaterThanOrEqual(LIMIT - 1.6);
    expect(daily.spentUsd).toBeLessThanOrEqual(LIMIT + SLACK);
    expect(daily.reservedUsd).toBe(0);
  });
});

describe('a worker outside the daemon', { timeout: MINUTE }, () => {
  it('cannot hand in an invalid price, and pays for a request when it reports none', async () => {
    const project = await attach(configOf(LIMIT, 1));
    await api.steerWorkers({ project: project.id, worker: 'agent-1', operation: 'pause' });
    await api.addTask({ project: project.id, title: 'outside', body: '' });
    const work = (await api.claimWork({ project: project.id, worker: 'alpha' }))!;
    const { number: task, fence } = work;
    const result = { outcome: 'no_changes', summary: '' } as const;
    const hand = (usage: object) =>
      api.finishClaim({ project: project.id, task, fence, result, usage } as Parameters<Api['finishClaim']>[0]);
    for (const usage of [
      { costUsd: 1e308 },
      { costUsd: -1 },
      { costUsd: '1' },
      { requests: 1e300 },
      { inputTokens: 0.5 },
    ])
      await expect(hand(usage), JSON.stringify(usage)).rejects.toMatchObject({ code: 'bad_input' });
    expect((await accountOf(project)).daily.spentUsd).toBe(0);
    await hand({});
    expect((await accountOf(project)).daily.spentUsd).toBe(ONE);
  });
});

describe('after all of it', { timeout: MINUTE }, () => {
  it('every figure is a number, and the store is intact', async () => {
    const [first] = repositories;
    const shown: unknown[] = [await machine.json<AccountView[]>(['budget'], first!.root)];
    for (const { id: project } of await api.projects({}))
      shown.push(await api.status({ project }), await api.metrics({ project }), await api.history({ project }));
    const numbers = numbersIn(shown);
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.every(Number.isFinite)).toBe(true);
    const { findings } = await api.doctor({});
    expect(findings.filter(({ check, level }) => (check === 'log' || check === 'store') && level !== 'ok')).toEqual([]);
  });
});
