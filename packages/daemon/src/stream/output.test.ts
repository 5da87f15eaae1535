import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { StreamProbe } from '../../../../test/support/stream-probe.ts';
import { Daemon } from '../assembly/daemon.ts';

let home: string;
let repository: TemporaryRepository;
let daemon: Daemon;
let token: string;
let api: Api;

/** Talks, waits for a sign, talks on and is ready; in characters of several bytes. */
const agentText = (sign: string) => `
import { existsSync, watch, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
const say = (text) => process.stdout.write(text + '\\n');
say('first words: über die Brücke, 橋を渡って');
const goOn = () => {
  if (!existsSync(${JSON.stringify(sign)})) return;
  watcher.close();
  for (let index = 0; index < 5000; index += 1) say('line ' + index + ' ünïcode \\u001b[31m橋\\u001b[0m');
  writeFileSync('made.txt', 'made');
  say(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'made' }));
};
const watcher = watch(dirname(${JSON.stringify(sign)}), goOn);
goOn();
`;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-output-'));
  const agent = join(home, 'agent.mjs');
  writeFileSync(agent, agentText(join(home, 'sign')));
  const config = `target: main\nworkers: 1\npipeline: quick\nsandbox: off\nuntested: true\nagents:\n  default: { type: command, command: ["${process.execPath}", "${agent}"] }\n`;
  repository = new TemporaryRepository({ '.tidemill/config.yaml': config });
  daemon = await Daemon.start({ env: { TIDEMILL_HOME: join(home, 'data') }, port: 0 });
  token = JSON.parse(readFileSync(join(home, 'data', 'daemon.json'), 'utf8')).token;
  api = createClient({ url: daemon.info.url, token });
});
afterAll(async () => {
  await daemon.stop({ now: true });
  repository.remove();
  rmSync(home, { recursive: true, maxRetries: 5 });
});

test('the output of a run comes live, from any offset, to several at once, and ends with it', async () => {
  const { project } = await daemon.attach(repository.root);
  const [early, late] = [
    await StreamProbe.open(daemon.info.url, token),
    await StreamProbe.open(daemon.info.url, token),
  ];
  early.ask({ type: 'subscribe', project: project.id, types: ['run.started'], after: 0 });
  await api.addTask({ project: project.id, title: 'Make a file', accept: ['it is there'] });
  const { events } = await early.next('events');
  const started = events[0]!.body;
  const run = 'runId' in started ? started.runId : '';
  const textOf = (probe: StreamProbe) =>
    probe
      .of('log')
      .map(({ chunk }) => chunk.text)
      .join('');
  early.ask({ type: 'follow', run });
  await early.until(() => textOf(early).includes('橋を渡って'));
  expect(early.of('log').every(({ isOver }) => !isOver)).toBe(true);
  // Another goes on from the middle: what it gets, put behind what the first had until then, is the whole.
  const middle = early.of('log').at(-1)!.chunk.offset;
  const had = textOf(early);
  late.ask({ type: 'follow', run, offset: middle });
  writeFileSync(join(home, 'sign'), '');
  for (const probe of [early, late]) await probe.until(() => probe.of('log').at(-1)?.isOver);
  const file = readFileSync(join(home, 'data', 'runs', `${run}.log`), 'utf8');
  expect(file).toContain('line 4999');
  expect(textOf(early)).toBe(file);
  expect(had + textOf(late)).toBe(file);
  expect(late.of('log').at(-1)!.chunk).toEqual({ offset: Buffer.byteLength(file), text: '' });

  // Over, it is given at once.
  late.ask({ type: 'follow', run });
  await late.until(() => late.of('log').filter(({ isOver }) => isOver).length === 2);
  early.close();
  late.close();
}, 60_000);
