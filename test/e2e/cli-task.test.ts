import type { BulkResult, TaskDetail, TaskSummary } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

let machine: TidemillHome;
let repository: TemporaryRepository;
beforeAll(async () => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  for (const title of ['First', 'Second', 'Third']) await run('add', title, '--accept', 'It is there');
}, 60_000);
afterAll(async () => {
  await machine.close();
  repository.remove();
});
const run = (...args: string[]) => machine.run(['task', ...args], repository.root);
const json = <T>(...args: string[]) => machine.json<T>(['task', ...args], repository.root);

describe('a person steers tasks from the command line', { timeout: 60_000 }, () => {
  test('edits a task, leaves a note, and finds the task by its new text', async () => {
    const criteria = ['--accept', 'It is there', '--accept', 'It is tested'];
    const edited = await json<TaskSummary>(
      'edit',
      '1',
      '--title',
      'A new <b>title</b>',
      '--priority',
      '0',
      ...criteria,
    );
    expect(edited).toMatchObject({ number: 1, title: 'A new <b>title</b>', priority: 0 });
    expect((await run('note', '1', 'Mind the tests')).stdout).toBe('#1 A new <b>title</b>: open\n');
    const { task } = await json<TaskDetail>('show', '1');
    expect(task.criteria.map(({ text }) => text)).toEqual(['It is there', 'It is tested']);
    expect(task.context).toMatchObject([{ source: 'person', summary: 'Mind the tests' }]);
    const prompt = await machine.run(['prompt', '1', 'implement'], repository.root);
    expect(prompt.stdout).toContain('Mind the tests');
    expect((await json<TaskSummary[]>('list', '--search', 'NEW')).map(({ number }) => number)).toEqual([1]);
    expect(await run('edit', '1')).toMatchObject({ code: 2, stderr: expect.stringContaining('no change given') });
    expect(await run('diff', '1')).toMatchObject({ code: 0, stdout: 'No change yet.\n' });
  });

  test('moves a task to an allowed stage, and gets the reason for a refused one', async () => {
    expect((await json<TaskSummary>('move', '2', 'verify')).stage).toBe('verify');
    expect(await run('move', '2', 'merge')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Tidemill moves it there when its gates pass'),
    });
    expect((await json<TaskSummary>('move', '2', 'open')).stage).toBe('open');
  });

  test('cancels several at once; refused ones are named, and the rest is cancelled', async () => {
    const { code, stdout, stderr } = await run('cancel', '2', '3', '99');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '#2 Second: cancelled\n#3 Third: cancelled\n' });
    expect(stderr).toContain('#99: there is no task #99');
    const back = await json<BulkResult>('retry', '3', '2');
    expect(back.done.map(({ number, stage }) => [number, stage])).toEqual([
      [3, 'open'],
      [2, 'open'],
    ]);
    expect((await run('retry', '2', '3', '--note', 'x')).code).toBe(2);
  });
});
