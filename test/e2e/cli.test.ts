import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectStatus, TaskDetail, TaskSummary } from '@tidemill/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

function open(): void {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ 'package.json': '{"scripts":{"test":"node --test"}}' });
  root = repository.root;
}
async function close(): Promise<void> {
  await machine.close();
  repository.remove();
}
const configure = (text = QUIET_CONFIG) => repository.write({ '.tidemill/config.yaml': text });

describe('tasks without a daemon', () => {
  beforeEach(() => {
    open();
    configure();
  });
  afterEach(close);

  test('are added, listed, shown and cancelled', async () => {
    expect((await machine.run(['task', 'add', 'First', '--accept', 'It is there'], root)).stdout).toContain('#1 added');
    const second = await machine.json<TaskSummary>(
      ['task', 'add', 'Zweite Sache', '--after', '1', '--priority', '0', '--files', 'src/**', '--pipeline', 'bug'],
      root,
    );
    expect(second).toMatchObject({ number: 2, after: [1], priority: 0, files: ['src/**'], pipeline: 'bug', unmet: 1 });
    const detail = await machine.json<TaskDetail>(['task', 'show', '1'], root);
    expect(detail.task.criteria).toMatchObject([{ text: 'It is there', met: null }]);
    expect((await machine.run(['task', 'show', '#2'], root)).stdout).toContain('after #1, 1 not done yet');
    await machine.run(['task', 'cancel', '2'], root);
    const all = await machine.json<TaskSummary[]>(['task', 'list'], root);
    expect(all.map(({ number, stage }) => [number, stage])).toEqual([
      [1, 'open'],
      [2, 'cancelled'],
    ]);
    const status = await machine.json<ProjectStatus>(['status'], root);
    expect(status).toMatchObject({ tasks: { open: 1, cancelled: 1 }, workers: [], running: false });
    expect(status.sandbox).toEqual({ active: expect.any(Boolean), text: expect.any(String) });
  });

  test('lists fit 80 columns with any title', async () => {
    await machine.run(['task', 'add', 'A very long title 長い題名 '.repeat(10).trim()], root);
    const { stdout } = await machine.run(['task', 'list'], root);
    expect(stdout.trimEnd()).toMatch(/^#1 .*…$/);
    expect(stdout.trimEnd().length).toBeLessThanOrEqual(80);
  });

  test('come from a file; a cycle in it is named and adds nothing', async () => {
    const file = join(root, 'tasks.yaml');
    writeFileSync(file, '- { key: a, title: A, after: [b] }\n- { key: b, title: B, after: [a] }\n');
    expect(await machine.run(['task', 'add', '--from', file], root)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/tasks\.yaml:1: .*a → b → a/),
    });
    writeFileSync(file, '- { key: a, title: A, after: [b] }\n- { key: b, title: B, accept: [Works] }\n');
    expect(await machine.json(['task', 'add', '--from', 'tasks.yaml'], root)).toMatchObject({ created: 2 });
    expect((await machine.json<TaskSummary[]>(['task', 'list'], root)).map(({ title }) => title)).toEqual(['B', 'A']);
  });

  test('several commands at once all take effect', async () => {
    const added = await Promise.all(['a', 'b', 'c', 'd'].map((title) => machine.start(['task', 'add', title], root)));
    expect(added.map(({ code, stderr }) => [code, stderr])).toEqual(Array(4).fill([0, '']));
    const numbers = (await machine.json<TaskSummary[]>(['task', 'list'], root)).map(({ number }) => number);
    expect(numbers).toEqual([1, 2, 3, 4]);
  });
});

describe('bad input on the command line', () => {
  beforeAll(() => {
    open();
    configure();
  });
  afterAll(close);
  const bad: [name: string, args: string[], message: RegExp][] = [
    ['an unknown command', ['tsak'], /unknown command 'tsak'/],
    ['an unknown option', ['task', 'add', 'x', '--prioritty', '1'], /unknown option.*--priority/s],
    ['no title', ['task', 'add'], /needs a title/],
    ['a blank title', ['task', 'add', '   '], /needs a title/],
    ['a title of 301 characters', ['task', 'add', 'x'.repeat(301)], /at most 300/],
    ['a priority out of range', ['task', 'add', 'x', '--priority', '5'], /from 0 to 4/],
    ['a dependency that is no number', ['task', 'add', 'x', '--after', 'two'], /"two" is not a task number/],
    ['a dependency that does not exist', ['task', 'add', 'x', '--after', '7'], /no task #7/],
    ['a pipeline that does not exist', ['task', 'add', 'x', '--pipeline', 'fast'], /"fast".*feature/s],
    ['a kind that does not exist', ['task', 'add', 'x', '--kind', 'wish'], /feature, bug, chore/],
    ['a file that does not exist', ['task', 'add', '--from', 'no.yaml'], /no\.yaml cannot be read/],
    ['a title and a file', ['task', 'add', 'x', '--from', 'no.yaml'], /everything from the file/],
    ['a task that does not exist', ['task', 'show', '9'], /no task #9/],
    ['a task that is no number', ['task', 'cancel', 'first'], /"first".*by its number/s],
    ['a rejection without a note', ['task', 'reject', '1'], /--note/],
    ['nothing to wait for', ['task', 'after', '1'], /--none/],
    ['an event type', ['events', '--type', 'task.move'], /Did you mean task\.moved/],
    ['a run', ['logs', 'run_x'], /no run "run_x"/],
    ['a commit', ['evidence', 'verify', 'nope'], /not a commit/],
    ['a snapshot', ['snapshots', 'restore', 'nope', '--to', 'x'], /no snapshot "nope"/],
    ['a port', ['up', '--port', '99999'], /from 0 to 65535/],
    ['workers', ['up', '--workers', '0'], /from 1/],
  ];
  test.each(bad)(
    'with %s ends with exit 2 and an error on standard error, and changes nothing',
    async (_, args, message) => {
      const { code, stdout, stderr } = await machine.run(args, root);
      expect(stderr).toMatch(message);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).not.toMatch(/\n\s+at /);
    },
  );

  test('with --json the refusal is one line of JSON, in a process of its own, too', async () => {
    const refused = await machine.run(['task', 'show', '9', '--json'], root);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'not_found', hint: expect.any(String) } });
    expect(await machine.start(['task', 'show', '9', '--json'], root)).toEqual(refused);
  });

  const withHelp = [
    [],
    ['task'],
    ['task', 'add'],
    ['up'],
    ['events'],
    ['evidence'],
    ['snapshots'],
    ['doctor'],
    ['logs'],
  ];
  test.each(withHelp)('help of %s fits 80 columns or wraps, and succeeds', async (...args) => {
    const { code, stdout } = await machine.run([...args, '--help'], root);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: tidemill');
  });
});

describe('damaged settings or data', () => {
  beforeEach(open);
  afterEach(close);

  test('an invalid config names its line; a missing one names init', async () => {
    expect((await machine.run(['up', '--until-idle'], root)).stderr).toContain('tidemill init');
    configure(QUIET_CONFIG.replace('pipeline:', 'pipline:'));
    expect(await machine.run(['up', '--until-idle'], root)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('config.yaml:2: unknown key "pipline"; did you mean "pipeline"?'),
    });
    expect(existsSync(join(machine.data, 'daemon.json'))).toBe(false);
  });

  test('a file that is not a store is refused and not changed', async () => {
    configure();
    await machine.run(['status'], root);
    const store = join(machine.data, 'store.db');
    writeFileSync(store, 'this is no database, but it is somebody’s file'.repeat(100));
    const { code, stderr } = await machine.run(['status'], root);
    expect(code).toBe(1);
    expect(stderr).toContain(store);
    expect(readFileSync(store, 'utf8')).toContain('somebody’s file');
  });
});
