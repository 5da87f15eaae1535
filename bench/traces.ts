import { join } from 'node:path';
import { AUTONOMY_PRESETS, ENGINE, LEVEL_TOKENS, LoopConfig, type Trace } from '@tidemill/contract';
import pg from 'pg';
import { createIds, systemClock } from '../packages/daemon/src/clock.ts';
import { fitting, viewAlone, viewTrace } from '../packages/daemon/src/handlers/trace/view.ts';
import type { Store } from '../packages/daemon/src/ports.ts';
import { openStore } from '../packages/daemon/src/store/open.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { type BenchOptions, sized } from './options.ts';
import { type Row, row, type Section } from './row.ts';
import { median, percentile, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const PROJECT = 'project_1';
const AT_ONCE = 200;
const SUMMARIES = 5;

/** How long a search over many traces takes, and how much of them a reader has to take in. */
export async function run(options: BenchOptions): Promise<Section> {
  const traces = sized(options, 100_000, 10_000);
  const rounds = sized(options, 200, 40);
  const rows: Row[] = [];
  await inTemporaryFolder(async (folder) => {
    rows.push(...(await measured('SQLite', join(folder, 'store.db'), undefined, traces, rounds)));
  });
  const server = await startPostgres();
  try {
    rows.push(...(await measured('Postgres', server.url, 'bench_traces', traces, rounds)));
  } finally {
    await server.stop();
  }
  return {
    name: 'traces',
    title: `Searching ${traces.toLocaleString('en')} traces`,
    rows,
    notes: [
      'Each text has about 20 words of 3,000, some common and most rare. A search has three of them, and every fourth one a filter too.',
      `Tokens: a page of metadata, ${SUMMARIES} summaries and one whole trace, compared with all matches.`,
    ],
  };
}

async function measured(name: string, url: string, schema: string | undefined, count: number, rounds: number) {
  const store = await openStore({ url, schema, clock: systemClock, ids: createIds(systemClock) });
  try {
    await register(store);
    const words = vocabulary();
    const filled = await timed(() => fill(store, words, count));
    if (schema) await analysed(url, schema);
    const times: number[] = [];
    const common: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const asked = [words(), words(), words()].join(' ');
      const tags = round % 4 === 0 ? ['type:failure'] : [];
      times.push(
        await timed(() => store.searchRecords({ noun: 'trace', projectId: PROJECT, words: asked, tags, limit: 20 })),
      );
      const usual = 'guard refused';
      common.push(
        await timed(() => store.searchRecords({ noun: 'trace', projectId: PROJECT, words: usual, limit: 20 })),
      );
    }
    return [
      row({ name: `${name}: three words, median`, value: median(times), unit: 'ms', target: { atMost: 10 } }),
      row({ name: `${name}: three words, p99`, value: percentile(times, 0.99), unit: 'ms' }),
      row({ name: `${name}: words that all have, median`, value: median(common), unit: 'ms', target: { atMost: 10 } }),
      row({ name: `${name}: recorded per second`, value: (count * 1000) / filled, unit: '/s' }),
      ...(name === 'SQLite' ? [await tokens(store)] : []),
    ];
  } finally {
    await store.close();
  }
}

/** As the server does by itself within a minute. */
async function analysed(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`VACUUM ANALYZE ${schema}.record_words`);
  await client.end();
}

/** What a reader takes in of a search with many matches. */
async function tokens(store: Store): Promise<Row> {
  const asked = { noun: 'trace', projectId: PROJECT, words: 'guard refused', limit: 500 } as const;
  const found = (await store.searchRecords(asked)).map(({ record }) => record);
  const all = fitting(found.map((trace) => viewTrace(trace, 'full'))).tokens;
  const page = fitting(
    found.map((trace) => viewTrace(trace, 'metadata')),
    LEVEL_TOKENS.metadata,
  ).tokens;
  const summaries = fitting(found.slice(0, SUMMARIES).map((trace) => viewTrace(trace, 'summary'))).tokens;
  const whole = fitting([viewAlone(found[0]!, 'full')]).tokens;
  return row({
    name: `tokens of reading ${found.length} matches step by step`,
    value: page + summaries + whole,
    unit: 'tokens',
    peer: { name: 'all of them', value: all },
    target: { ratioAtMost: 0.15 },
  });
}

async function register(store: Store): Promise<void> {
  const rules = {
    ...{ target: 'main', defaultPipeline: 'quick', gates: [], pipelines: {}, reviewPlans: false, critical: [] },
    ...{ hilConfig: AUTONOMY_PRESETS.full, budget: { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' } },
    loop: LoopConfig.parse({}),
  };
  await store.execute({ type: 'project.register', projectId: PROJECT, name: 'bench', root: '/bench', rules });
}

async function fill(store: Store, words: () => string, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) =>
        store.execute({ type: 'trace.store', projectId: PROJECT, trace: traceOf(from + index, words) }),
      ),
    );
}

function traceOf(index: number, words: () => string): Omit<Trace, 'noun' | 'projectId'> {
  const type = (['failure', 'violation', 'note', 'correction'] as const)[index % 4]!;
  const text = Array.from({ length: 20 }, words).join(' ');
  return {
    ...{ id: `trace_${String(index).padStart(9, '0')}`, type, source: 'guard', subjectId: null, runId: null },
    ...{ taskNumber: index % 2_000, agent: 'claude', files: [`src/${words()}.ts`], key: `guard:${index % 50}:Bash` },
    ...{ what: `The guard refused: ${text}`, correct: null, why: text.slice(0, 80), at: index, seq: index, by: ENGINE },
  };
}

/** Words as texts have them: few are common, most are rare. The same in every run. */
function vocabulary(): () => string {
  const all = Array.from(
    { length: 3_000 },
    (_, index) => `${SYLLABLES[index % 20]}${SYLLABLES[(index * 7) % 20]}${index}`,
  );
  let seed = 1;
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return all[Math.floor((seed / 2_147_483_648) ** 3 * all.length)]!;
  };
}
const SYLLABLES = 'ka lo mi nu pe ra so ti ve wo xa zu be ci do fa gu hy ji qu'.split(' ');
