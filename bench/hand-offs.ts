import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentEnvelope, MAX_HAND_OFF_TOKENS } from '@tidemill/contract';
import { distil, distilledText, tokensOf } from '../packages/core/src/hand-off/distil.ts';
import { row, type Section } from './row.ts';
import { percentile, timed } from './sample.ts';

const RECORDED = join(import.meta.dirname, '../test/support/earlier/store.sql');
const TIMES = 200;

/** What a role passes on, of results that runs have returned and of far longer ones. */
export async function run(): Promise<Section> {
  const recorded = await recordedResults();
  const all = [...recorded, ...longResults()];
  const files = Array.from({ length: 400 }, (_, index) => `packages/daemon/src/a-folder/module-${index}.ts`);
  const tokens = all.map((envelope) => tokensOf(distilledText(distil(envelope, true, files))));
  const raw = all.map((envelope) => tokensOf(JSON.stringify(envelope)));
  const times: number[] = [];
  for (let turn = 0; turn < TIMES; turn += 1)
    times.push(await timed(() => all.map((envelope) => distil(envelope, true, files))));
  return {
    name: 'hand-offs',
    title: 'Hand-offs',
    rows: [
      row({
        name: 'largest hand-off',
        value: Math.max(...tokens),
        unit: 'tokens',
        target: { atMost: MAX_HAND_OFF_TOKENS },
      }),
      row({ name: 'the largest result it was made of', value: Math.max(...raw), unit: 'tokens' }),
      row({ name: `${all.length} results distilled, p95`, value: percentile(times, 0.95), unit: 'ms' }),
    ],
    notes: [`${recorded.length} results are of a recorded store; ${all.length - recorded.length} are made to be long.`],
  };
}

async function recordedResults(): Promise<AgentEnvelope[]> {
  const lines = (await readFile(RECORDED, 'utf8')).split('\n').filter((line) => line.includes("'run.finished'"));
  return lines.flatMap((line) => {
    const json = line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1).replaceAll("''", "'");
    const read = AgentEnvelope.safeParse((JSON.parse(json) as { envelope: unknown }).envelope);
    return read.success ? [read.data] : [];
  });
}

/** An agent that pastes the output of its tools, one that decides and doubts a lot, and one that writes in another script. */
function longResults(): AgentEnvelope[] {
  const output = 'FAIL src/sum.test.ts > an empty list\n  expected 0, received NaN\n'.repeat(4_000);
  const points = (text: string) => Array.from({ length: 50 }, (_, index) => `${index}: ${text.repeat(40)}`);
  return [
    { outcome: 'pr_ready', summary: output },
    { outcome: 'plan_complete', summary: 'planned', plan: output, planSummary: 'Use a queue. '.repeat(400) },
    { outcome: 'pr_ready', summary: 'built', decisions: points('keeps the order. '), unresolved: points('is slow. ') },
    { outcome: 'changes_requested', summary: '', review: { criteria: [], comments: points('the sum is wrong. ') } },
    { outcome: 'pr_ready', summary: '合計を直しました。'.repeat(3_000), decisions: points('順序を保つ。') },
  ];
}
