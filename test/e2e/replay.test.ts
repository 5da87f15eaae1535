import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedTaskView, ReplayView } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReplayHome } from '../support/replay-home.ts';
import type { TidemillHome } from '../support/tidemill-home.ts';
import type { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
let bed: ReplayHome;
let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
beforeEach(() => {
  bed = new ReplayHome();
  ({ machine, repository, root } = bed);
});
afterEach(() => bed.close());

describe('tidemill replay', () => {
  test('compares two agents on landed tasks, survives kill -9, and lands nothing', {
    timeout: 5 * MINUTE,
  }, async () => {
    const first = await bed.landed(3);
    const tasks = await machine.json<RecordedTaskView[]>(['replay', 'tasks'], root);
    expect(tasks.map(({ number, unusable }) => [number, unusable])).toEqual([
      [3, null],
      [2, null],
      [1, null],
    ]);
    const before = bed.refs();
    const compare = ['replay', 'run', '--agent', 'default', '--agent', 'replay-sloppy'];
    await machine.json<ReplayView>([...compare, '--no-wait'], root);
    await machine.event('replay.measured');
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await machine.up(root);
    await machine.event('replay.ended');
    const { report, runs, status, spentUsd } = await bed.show('R1');
    expect(status).toBe('done');
    expect(report.variants).toMatchObject([
      { name: 'default', runs: 3, passed: 3, firstTry: 3, void: 0 },
      { name: 'replay-sloppy', runs: 3, passed: 3, firstTry: 0, void: 0 },
    ]);
    expect(report.pairs).toMatchObject([{ pairs: 3, better: 0, worse: 3, gain: { value: -1 } }]);
    expect(runs).toHaveLength(6);
    // A run that was killed may have been paid twice.
    expect(spentUsd).toBeGreaterThanOrEqual(0.18 - 1e-9);
    expect(bed.refs()).toEqual(before);
    const text = (await machine.run(['replay', 'show', '1'], root)).stdout;
    expect(text).toContain('replay-sloppy against default: -100 points at the first try');

    const stopped = await machine.run(['replay', 'stop', 'R1'], root);
    expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining('R1 is already done') });
    second.child.kill('SIGTERM');
    await second.ended;
    expect(repository.git('log', '--format=%s', '-1')).toBe('Write file 3');
    expect(readFileSync(join(root, 'src/3.txt'), 'utf8')).toBe('fine\n');
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
