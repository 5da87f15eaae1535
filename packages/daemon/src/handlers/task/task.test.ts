import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, plainLine, plainText } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';

let bed: DaemonBed;
let api: Api;
let project: string;
beforeEach(async () => {
  bed = await DaemonBed.open();
  ({ api, project } = bed);
});
afterEach(() => bed.close());

const WILD = `<script>alert("1")</script> 'quotes' \u001b[31m \u0007 \u202e ${'é'.repeat(120)}`;
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  );

describe('editing a task', () => {
  test('keeps any text, without invisible characters, and a replay of the log gives the same rows', async () => {
    const { number } = await api.addTask({ project, title: 'Plain', accept: ['stays'] });
    const edit = { title: WILD, body: `${WILD}\n${'x'.repeat(100_000)}`, files: [WILD], priority: 0 };
    const made = await api.editTask({ project, task: number, by: 'ada', ...edit, accept: ['stays', WILD] });
    const plain = { title: plainLine(WILD), body: plainText(edit.body), files: [WILD], priority: 0 };
    expect(made).toMatchObject({ number, title: plain.title, files: [WILD], priority: 0 });
    const { task } = await api.task({ project, task: number });
    expect(task).toMatchObject(plain);
    expect(task.criteria.map(({ text }) => text)).toEqual(['stays', plainText(WILD)]);
    expect((await api.tasks({ project, search: 'SCRIPT' })).map(({ title }) => title)).toEqual([plain.title]);
    const { findings } = await api.doctor({});
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
  });

  test.each([
    ['an empty title', { title: '  ' }],
    ['a long title', { title: 'x'.repeat(301) }],
    ['a priority that is none', { priority: 5 }],
    ['an empty criterion', { accept: [''] }],
    ['something else', { stage: 'done' } as object],
  ])('with %s is refused', async (_, edit) => {
    const { number } = await api.addTask({ project, title: 'Plain' });
    expect(await refused(api.editTask({ project, task: number, ...edit }))).toMatch(/^bad_input/);
    expect((await api.task({ project, task: number })).task.title).toBe('Plain');
  });

  test('is refused for a finished task and for an unknown one', async () => {
    const { number } = await api.addTask({ project, title: 'Plain' });
    await api.cancelTask({ project, task: number });
    expect(await refused(api.editTask({ project, task: number, title: 'x' }))).toMatch(/^wrong_stage/);
    expect(await refused(api.editTask({ project, task: 99, title: 'x' }))).toMatch(/^not_found/);
    expect(await refused(api.noteTask({ project, task: '../1', text: 'x' }))).toMatch(/^not_found/);
  });
});

test('a note is in the prompt of the next agent, and in the log with its author', async () => {
  const { number } = await api.addTask({ project, title: 'Plain' });
  await api.noteTask({ project, task: number, by: 'ada', text: '  Mind the tests.  ' });
  expect((await api.prompt({ project, task: number, mode: 'implement' })).prompt).toContain('Mind the tests.');
  const { task } = await api.task({ project, task: number });
  expect(task.context).toMatchObject([
    { source: 'person', entryType: 'note', summary: 'Mind the tests.', by: { name: 'ada' } },
  ]);
  for (const text of ['', '   ', 'x'.repeat(2001)])
    expect(await refused(api.noteTask({ project, task: number, text }))).toMatch(/^bad_input/);
});

describe('moving a task', () => {
  test('is possible to the allowed stages, and gives the reason for the others', async () => {
    const { number } = await api.addTask({ project, title: 'Plain', pipeline: 'feature' });
    const move = (to: string, note?: string) => api.moveTask({ project, task: number, to, note });
    expect((await move('implement')).stage).toBe('implement');
    expect(await refused(move('review'))).toBe(
      'wrong_stage: #1 cannot go to review: Tidemill moves it there when its gates pass',
    );
    expect(await refused(move('nowhere'))).toMatch(/^bad_input: pipeline feature has no stage "nowhere"/);
    expect(await refused(move('constructor'))).toMatch(/^bad_input/);
    const { moves } = await api.task({ project, task: number });
    expect(moves.map(({ to }) => to)).toEqual([
      'open',
      'plan',
      'plan_review',
      'implement',
      'verify',
      'review',
      'merge',
      'done',
      'cancelled',
    ]);
    expect((await move('cancelled')).stage).toBe('cancelled');
    expect((await move('open')).stage).toBe('open');
  });

  test('gives the current state to the second of two people who decide at once', async () => {
    const { number } = await api.addTask({ project, title: 'Plain', pipeline: 'feature' });
    const move = (to: string) => api.moveTask({ project, task: number, from: 'open', to });
    const both = await Promise.all([refused(move('cancelled')), refused(move('implement'))]);
    const { task } = await api.task({ project, task: number });
    expect(both.toSorted()).toEqual([`conflict: #1 is now in ${task.stage}, no longer in open`, 'ok']);
    expect(await refused(move('cancelled'))).toMatch(/^conflict/);
  });

  test('a task with a question needs a note, and a leased task names its worker', async () => {
    const { number } = await api.addTask({ project, title: 'Plain' });
    const leased = await bed.claim('agent-1', 'builder');
    const move = (note?: string) => api.moveTask({ project, task: number, to: 'implement', note });
    const { moves } = await api.task({ project, task: number });
    expect(moves.find(({ to }) => to === 'open')?.why).toBe('agent-1 is working on it: cancel it first, or wait');
    const runId = 'run_1';
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
    await bed.must({ type: 'run.start', ...bed.fence(leased), runId, mode: 'implement', agent: 'test' });
    const envelope = { outcome: 'needs_info', summary: 'Which?' } as const;
    await bed.must({ type: 'run.finish', ...bed.fence(leased), runId, outcome: 'needs_info', envelope, usage });
    expect(await refused(move())).toMatch(/^bad_input: moving #1 to implement answers its question/);
    expect((await move('the second')).stage).toBe('implement');
    expect((await api.task({ project, task: number })).questions).toMatchObject([
      { status: 'answered', answer: { text: 'the second' } },
    ]);
  });
});

describe('an operation on many tasks', () => {
  test('decides about each task separately, once, and refusals name the task', async () => {
    for (const title of ['One', 'Two', 'Three']) await api.addTask({ project, title });
    await api.cancelTask({ project, task: 3 });
    const urgent = await api.bulkTasks({
      project,
      operation: 'prioritise',
      priority: 0,
      tasks: [2, 1, 2, 3, 77, 2 ** 40],
    });
    expect(urgent.done.map(({ number, priority }) => [number, priority])).toEqual([
      [2, 0],
      [1, 0],
    ]);
    expect(urgent.refused.map(({ number, code }) => [number, code])).toEqual([
      [3, 'wrong_stage'],
      [77, 'not_found'],
      [2 ** 40, 'not_found'],
    ]);
    const approved = await api.bulkTasks({ project, operation: 'approve', tasks: [1] });
    expect(approved.refused[0]).toMatchObject({
      number: 1,
      message: expect.stringContaining('does not wait for approval'),
    });
    const [cancelled, again] = await Promise.all([
      api.bulkTasks({ project, operation: 'cancel', tasks: [1, 2], by: 'ada' }),
      api.bulkTasks({ project, operation: 'cancel', tasks: [2, 1] }),
    ]);
    expect([...cancelled.done, ...again.done].map(({ stage }) => stage)).toEqual(Array(4).fill('cancelled'));
    const back = await api.bulkTasks({ project, operation: 'retry', tasks: [1, 2, 3] });
    expect(back.done.map(({ stage }) => stage)).toEqual(['open', 'open', 'open']);
  });

  test.each([
    ['without tasks', { tasks: [] }],
    ['with too many', { tasks: Array.from({ length: 501 }, (_, index) => index + 1) }],
    ['with a number that is none', { tasks: [0] }],
    ['without the priority', { tasks: [1], operation: 'prioritise' as const }],
  ])('%s is refused', async (_, input) => {
    expect(await refused(api.bulkTasks({ project, operation: 'cancel', ...input }))).toMatch(/^bad_input/);
  });
});

describe('the view of a task', () => {
  test('has its related tasks over all steps, nearest first, at most a hundred', async () => {
    const [top] = [await api.addTask({ project, title: 'Top' })];
    const chain = Array.from({ length: 60 }, (_, index) => ({
      title: `Link ${index}`,
      key: `k${index}`,
      after: index === 0 ? [top.number] : [`k${index - 1}`],
    }));
    const fan = Array.from({ length: 300 }, (_, index) => ({ title: `Leaf ${index}`, after: ['k59'] }));
    const { keys } = await api.importTasks({ project, tasks: [...chain, ...fan] });
    const beside = await api.addTask({ project, title: 'Beside', after: [top.number] });
    const { related } = await api.task({ project, task: keys.k20! });
    const numbers = related.map(({ number }) => number);
    expect(numbers.slice(0, 2).sort((a, b) => a - b)).toEqual([keys.k19, keys.k21]);
    expect(related).toHaveLength(100);
    expect(new Set(numbers).size).toBe(100);
    expect(numbers).toContain(top.number);
    for (const absent of [keys.k20!, beside.number]) expect(numbers).not.toContain(absent);
    expect(related.find(({ number }) => number === keys.k19)).toMatchObject({ title: 'Link 19', after: [keys.k18] });
    expect((await api.task({ project, task: beside.number })).related).toMatchObject([{ number: top.number }]);
  });

  test('has its folder if it exists, its questions, and its cost', async () => {
    const { number } = await api.addTask({ project, title: 'Plain' });
    expect(await api.task({ project, task: number })).toMatchObject({ worktree: null, questions: [], costUsd: 0 });
    const folder = join(bed.home, 'projects', project, 'worktrees', '1-plain');
    mkdirSync(folder, { recursive: true });
    await bed.build(await bed.claim('agent-1', 'builder'), bed.repository.git('rev-parse', 'HEAD'));
    expect(await api.task({ project, task: number })).toMatchObject({ worktree: folder, costUsd: 0.25 });
  });
});

test('lists of tasks can be searched, and start with the newest', async () => {
  for (const title of ['Parse files', 'Sort files', 'Parse_numbers', '100% done'])
    await api.addTask({ project, title });
  const numbers = async (query: object) => (await api.tasks({ project, ...query })).map(({ number }) => number);
  expect(await numbers({ search: 'FILES parse' })).toEqual([1]);
  expect(await numbers({ search: '#2' })).toEqual([2]);
  expect(await numbers({ search: '%', newestFirst: true })).toEqual([4]);
  expect(await numbers({ search: 'parse_' })).toEqual([3]);
  expect(await numbers({ newestFirst: true, limit: 2 })).toEqual([4, 3]);
  expect(await numbers({ newestFirst: true, limit: 2, afterNumber: 3 })).toEqual([2, 1]);
  expect(await refused(api.tasks({ project, search: 'x'.repeat(301) }))).toMatch(/^bad_input/);
});
