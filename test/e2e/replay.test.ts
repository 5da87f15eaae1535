import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedTaskView, ReplayDetail, ReplayView } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const spend = { spend: { inputTokens: 1000, outputTokens: 100, costUsd: 0.02 } };
const file = 'src/{taskNumber}.txt';

/** The careful one writes what the gate wants; the sloppy one only after the gate has told it. */
const CAREFUL = {
  default: { implement: [{ write: { path: file, content: 'fine\n' } }, spend, { result: {} }] },
};
const SLOPPY = {
  runs: [
    {
      when: { mode: 'implement', feedback: 'Gate test failed' },
      do: [{ write: { path: file, content: 'fine\n' } }, spend, { result: {} }],
    },
  ],
  default: {
    implement: [
      { write: { path: file, content: 'bad\n' } },
      { run: 'git log --all --format=%s > src/history.txt' },
      spend,
      { result: {} },
    ],
  },
};
/** With the rule in its prompt it is careful, without it sloppy. */
const READER = {
  runs: [
    { when: { mode: 'implement', prompt: 'Never write bad words' }, do: CAREFUL.default.implement },
    ...SLOPPY.runs,
  ],
  default: SLOPPY.default,
};

const CONFIG = `target: main
pipeline: quick
workers: 2
agents:
  default: { type: scripted, script: careful.json }
  replay-sloppy: { type: scripted, script: sloppy.json }
  replay-reader: { type: scripted, script: reader.json }
gates:
  - { name: test, run: "! grep -rq bad src" }
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

beforeEach(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    'src/a.txt': 'ok\n',
    'careful.json': JSON.stringify(CAREFUL),
    'sloppy.json': JSON.stringify(SLOPPY),
    'reader.json': JSON.stringify(READER),
    '.gitignore': '.tidemill/\n',
  });
  root = repository.root;
  repository.write({ '.tidemill/config.yaml': CONFIG });
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

/** Lands tasks, the same way as always. */
async function landed(count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1)
    await machine.run(['task', 'add', `Write file ${number}`, '--accept', `src/${number}.txt exists`], root);
  const { code, stderr } = await machine.run(['up', '--until-idle', '--plain'], root);
  expect(code, stderr).toBe(0);
}
const show = (ref: string) => machine.json<ReplayDetail>(['replay', 'show', ref], root);
const refs = () => [repository.git('for-each-ref'), repository.git('status', '--porcelain')];

describe('tidemill replay', () => {
  test('compares two agents on landed tasks, survives kill -9, and lands nothing', {
    timeout: 5 * MINUTE,
  }, async () => {
    await landed(3);
    const tasks = await machine.json<RecordedTaskView[]>(['replay', 'tasks'], root);
    expect(tasks.map(({ number, unusable }) => [number, unusable])).toEqual([
      [3, null],
      [2, null],
      [1, null],
    ]);
    const before = refs();
    const first = await machine.up(root);
    const compare = ['replay', 'run', '--agent', 'default', '--agent', 'replay-sloppy'];
    await machine.json<ReplayView>([...compare, '--no-wait'], root);
    await machine.event('replay.measured');
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await machine.up(root);
    await machine.event('replay.ended');
    const { report, runs, status, spentUsd } = await show('R1');
    expect(status).toBe('done');
    expect(report.variants).toMatchObject([
      { name: 'default', runs: 3, passed: 3, firstTry: 3, void: 0 },
      { name: 'replay-sloppy', runs: 3, passed: 3, firstTry: 0, void: 0 },
    ]);
    expect(report.pairs).toMatchObject([{ pairs: 3, better: 0, worse: 3, gain: { value: -1 } }]);
    expect(runs).toHaveLength(6);
    // A run that was killed may have been paid twice.
    expect(spentUsd).toBeGreaterThanOrEqual(0.18 - 1e-9);
    expect(refs()).toEqual(before);
    const text = (await machine.run(['replay', 'show', '1'], root)).stdout;
    expect(text).toContain('replay-sloppy against default: -100 points at the first try');

    const stopped = await machine.run(['replay', 'stop', 'R1'], root);
    expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining('R1 is already done') });
    second.child.kill('SIGTERM');
    await second.ended;
    expect(repository.git('log', '--format=%s', '-1')).toBe('Write file 3');
    expect(readFileSync(join(root, 'src/3.txt'), 'utf8')).toBe('fine\n');
  });

  test('tries another prompt, and stops at its limit', { timeout: 5 * MINUTE }, async () => {
    await landed(2);
    await machine.up(root);
    const file = join(repository.folder, 'prompt.md');
    repository.write({ '../prompt.md': '# {taskTitle}\n\nNever write bad words.\n\n{feedbackSection}\n' });
    const tried = await machine.json<ReplayView>(['replay', 'run', '--agent', 'replay-reader', '--prompt', file], root);
    expect(tried.report.variants).toMatchObject([
      { name: 'the prompt in use', firstTry: 0, passed: 2 },
      { name: 'the new prompt', firstTry: 2, passed: 2 },
    ]);
    expect(tried.report.pairs).toMatchObject([{ better: 2, worse: 0, gain: { value: 1 } }]);

    const dear = ['replay', 'run', '2', '--repeat', '10', '--budget', '0.05'];
    const short = await machine.json<ReplayView>(dear, root);
    expect(short).toMatchObject({ status: 'stopped', why: expect.stringContaining('its limit of 0.05 USD') });
    expect(short.spentUsd).toBeLessThanOrEqual(0.06);
    const again = await machine.json<ReplayView>(['replay', 'run', '1', '--no-wait', '--repeat', '20'], root);
    await machine.run(['replay', 'stop', again.ref, '--why', 'enough'], root);
    await machine.event('replay.ended', ({ replayId }) => replayId === again.id);
    expect(await show(again.ref)).toMatchObject({ status: 'stopped', why: 'enough' });
  });

  test('refuses what cannot be replayed, and says what can', async () => {
    const none = await machine.run(['replay', 'run'], root);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no recorded task to replay') });
    await machine.run(['task', 'add', 'Write file 1', '--accept', 'x'], root);
    const open = await machine.run(['replay', 'run', '1'], root);
    expect(open.stderr).toContain('#1 cannot be replayed: it has not landed');
    const agent = await machine.run(['replay', 'run', '--agent', 'nobody'], root);
    expect(agent.stderr).toContain('default, replay-sloppy, replay-reader');
    const twice = await machine.run(['replay', 'run', '--agent', 'default', '--agent', 'default'], root);
    expect(twice.stderr).toContain('an agent is named twice');
    repository.write({ 'wrong.md': 'Do {taskTitel}\n' });
    const prompt = await machine.run(['replay', 'run', '--prompt', 'wrong.md'], root);
    expect(prompt.stderr).toContain('the new prompt:1: there is no placeholder {taskTitel}; did you mean {taskTitle}?');
    for (const [option, value] of [
      ['--budget', '0'],
      ['--repeat', '21'],
      ['--last', 'x'],
    ] as const)
      expect((await machine.run(['replay', 'run', option, value], root)).code).not.toBe(0);
    const unknown = await machine.run(['replay', 'show', 'R9'], root);
    expect(unknown.stderr).toContain('there is no replay R9');
  });
});
