import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReplayHome } from '../support/replay-home.ts';
import type { TidemillHome } from '../support/tidemill-home.ts';
import type { TemporaryRepository } from './cli-repository.ts';

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
