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

describe('tidemill replay of landed tasks', () => {
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
});

describe('tidemill replay with another prompt', () => {
  test('tries another prompt, and stops at its limit', { timeout: 5 * MINUTE }, async () => {
    await bed.landed(2);
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
    expect(await bed.show(again.ref)).toMatchObject({ status: 'stopped', why: 'enough' });
  });
});
