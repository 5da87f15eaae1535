import { join } from 'node:path';
import type { ReplayView } from '@tidemill/contract';
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
