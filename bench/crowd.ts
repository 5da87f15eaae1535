import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@tidemill/contract/client';
import { addressOf, startDaemon } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { makeRepository } from './repository.ts';
import { row, type Section } from './row.ts';
import { median, percentile } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const AGENTS = 10;
const HEARTBEAT_MS = 30_000;

/** Ten agents at once that talk all the time, as seen by somebody who follows the events. */
export async function run(options: BenchOptions): Promise<Section> {
  const seconds = sized(options, 70, 5);
  return inTemporaryFolder(async (folder) => {
    const [root, home] = [join(folder, 'repository'), join(folder, 'home')];
    await makeRepository(root);
    await mkdir(join(root, '.tidemill'));
    await writeFile(join(folder, 'agent.mjs'), agentText(seconds));
    const agent = { type: 'command', command: [process.execPath, join(folder, 'agent.mjs')] };
    const config = { target: 'main', workers: AGENTS, pipeline: 'quick', untested: true, agents: { default: agent } };
    await writeFile(join(root, '.tidemill', 'config.yaml'), JSON.stringify(config));
    const daemon = await startDaemon(root, home, AGENTS);
    try {
      const { lags, beats, ended } = await follow(home, root);
      const late = lateness(beats);
      return {
        name: 'crowd',
        title: `${AGENTS} agents at once, over ${seconds} s`,
        rows: [
          row({ name: 'an event from its commit to a reader, median', value: median(lags), unit: 'ms' }),
          row({
            name: 'an event from its commit to a reader, p99',
            value: percentile(lags, 0.99),
            unit: 'ms',
            target: { atMost: 250 },
          }),
          ...(late.length > 0
            ? [
                row({
                  name: 'heartbeats, the latest by',
                  value: Math.max(...late) / 1000,
                  unit: 's',
                  // A lease lasts four heartbeats: one that comes this late has cost nothing yet.
                  target: { atMost: 5 },
                }),
              ]
            : []),
        ],
        notes: [`${lags.length} events, ${late.length} heartbeats, ${ended} of ${AGENTS} tasks landed.`],
      };
    } finally {
      await daemon.stop();
    }
  });
}

async function follow(home: string, root: string) {
  const api = createClient(await addressOf(home));
  const [project] = await api.projects({ root });
  const lags: number[] = [];
  const beats = new Map<string, number[]>();
  const over = new AbortController();
  const { lastSeq } = await api.status({ project: project!.id });
  const reading = (async () => {
    let ended = 0;
    for await (const { at, body } of api.events({ project: project!.id, after: lastSeq, follow: true }, over.signal)) {
      lags.push(Date.now() - at);
      if (body.type === 'lease.claimed' || body.type === 'lease.renewed')
        beats.set(body.subjectId, [...(beats.get(body.subjectId) ?? []), at]);
      if (body.type === 'lease.released') beats.set(`${body.subjectId} ${at}`, beats.get(body.subjectId) ?? []);
      if (body.type === 'lease.released') beats.delete(body.subjectId);
      if (body.type === 'merge.landed') ended += 1;
      if (ended === AGENTS) over.abort();
    }
    return ended;
  })();
  for (let number = 1; number <= AGENTS; number += 1)
    await api.addTask({ project: project!.id, title: `Task ${number}`, accept: ['done'] });
  return { ended: await reading, lags, beats };
}

/** By how much each heartbeat came later than it should have, within one lease. */
function lateness(beats: Map<string, number[]>): number[] {
  return [...beats.values()].flatMap((times) => times.slice(1).map((at, index) => at - times[index]! - HEARTBEAT_MS));
}

/** Prints, reports progress and spending ten times a second, then hands in a file of its own. */
const agentText = (seconds: number) => `
import { writeFileSync } from 'node:fs';
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; });
process.stdin.on('end', () => {
  const brief = JSON.parse(text);
  const say = (message) => console.log(JSON.stringify(message));
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    console.log('working on it, line ' + count);
    say({ tidemill: 'progress', percent: Math.min(99, count), text: 'step ' + count });
    say({ tidemill: 'usage', inputTokens: 10, outputTokens: 1, costUsd: 0.0001 });
    if (count < ${seconds} * 10) return;
    clearInterval(timer);
    writeFileSync('task-' + brief.task.number + '.txt', 'done');
    say({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' });
  }, 100);
});
`;
