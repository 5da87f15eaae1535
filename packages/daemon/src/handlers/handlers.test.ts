import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, type TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { OfflineBed } from '../../../../test/support/offline-bed.ts';

let bed: OfflineBed;
let repository: TemporaryRepository;
let api: Api;
let project: string;

beforeEach(async () => {
  bed = await OfflineBed.open();
  ({ repository, api, project } = bed);
});
afterEach(() => bed.close());

describe('projects', () => {
  test('are registered once, and configured again when the file changed', async () => {
    const before = (await api.projects({ root: repository.root }))[0]!;
    expect((await api.registerProject({ root: repository.root })).id).toBe(before.id);
    writeFileSync(join(repository.root, '.tidemill/config.yaml'), QUIET_CONFIG.replace('quick', 'bug'));
    expect((await api.registerProject({ root: repository.root })).rules.defaultPipeline).toBe('bug');
    const types: string[] = [];
    for await (const event of api.events({ project })) types.push(event.body.type);
    expect(types).toEqual(['project.registered', 'project.configured']);
  });

  test('a daemon is needed to attach and to stop', async () => {
    await expect(api.attachProject({ root: repository.root })).rejects.toMatchObject({ code: 'daemon_unreachable' });
    await expect(api.stop({})).rejects.toMatchObject({ code: 'daemon_unreachable' });
  });
});

describe('status', () => {
  test('counts by stage and lists what needs a person, with the command that helps', async () => {
    const first = await api.addTask({ project, title: 'One' });
    await api.addTask({ project, title: 'Two', after: [first.number] });
    await api.cancelTask({ project, task: '#1' });
    expect(await api.status({ project })).toMatchObject({
      tasks: { open: 1, cancelled: 1 },
      total: 2,
      idle: true,
      running: false,
      daemon: null,
      needsYou: [{ number: 2, why: 'waits for #1, which was cancelled', command: 'tidemill task after 2 --not 1' }],
    });
  });
});

describe('an import', () => {
  test('puts dependencies first and otherwise keeps the order of the list', async () => {
    const existing = await api.addTask({ project, title: 'There already' });
    const tasks = [
      { title: 'Use', after: ['parser', existing.number] },
      { title: 'Parse', key: 'parser' },
      { title: 'Last', after: ['#1'] },
    ];
    expect(await api.importTasks({ project, tasks })).toEqual({ created: 3, first: 2, last: 4, keys: { parser: 2 } });
    const made = await api.tasks({ project, afterNumber: 1 });
    expect(made.map(({ title, after }) => [title, after])).toEqual([
      ['Parse', []],
      ['Use', [2, 1]],
      ['Last', [1]],
    ]);
  });

  const bad: [name: string, tasks: Parameters<Api['importTasks']>[0]['tasks'], code: string, message: RegExp][] = [
    ['nothing', [], 'bad_input', /no tasks/],
    [
      'a key twice',
      [
        { title: 'a', key: 'k' },
        { title: 'b', key: 'k' },
      ],
      'bad_input',
      /"k"/,
    ],
    [
      'an unknown key',
      [
        { title: 'a', after: ['prser'] },
        { title: 'b', key: 'parser' },
      ],
      'bad_input',
      /"prser"/,
    ],
    ['an unknown number', [{ title: 'a', after: [44] }], 'not_found', /#44/],
    ['an unknown pipeline', [{ title: 'a' }, { title: 'b', pipeline: 'x' }], 'unknown_pipeline', /"x"/],
    ['itself', [{ title: 'a', key: 'a', after: ['a'] }], 'dependency_cycle', /a → a/],
    [
      'a cycle',
      [
        { title: 'A', key: 'a', after: ['c'] },
        { title: 'B', key: 'b', after: ['a'] },
        { title: 'C', key: 'c', after: ['b'] },
      ],
      'dependency_cycle',
      /a → c → b → a/,
    ],
  ];
  test.each(bad)('with %s is refused and adds nothing', async (_, tasks, code, message) => {
    await expect(api.importTasks({ project, tasks })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(await api.tasks({ project })).toEqual([]);
  });

  test('of more than 10,000 is refused', async () => {
    const tasks = Array.from({ length: 10_001 }, (_, index) => ({ title: `Task ${index}` }));
    await expect(api.importTasks({ project, tasks })).rejects.toMatchObject({ code: 'bad_input' });
    expect(await api.tasks({ project })).toEqual([]);
  });

  test('that the store refuses in the middle names the task and adds nothing', async () => {
    const tasks = [{ title: 'One' }, { title: 'Two', repairs: ['no such gate'] }, { title: 'Three' }];
    await expect(api.importTasks({ project, tasks })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('task 2 ("Two"): there is no gate "no such gate"'),
      hint: expect.stringContaining('Nothing was added.'),
    });
    expect(await api.tasks({ project })).toEqual([]);
    expect((await api.addTask({ project, title: 'Next' })).number).toBe(1);
  });

  test('sent twice with one key is executed once; another list with the key is refused', async () => {
    const key = { idempotencyKey: 'list' };
    const tasks = [
      { title: 'One', key: 'one', after: ['two'] },
      { title: 'Two', key: 'two' },
    ];
    const send = (list: typeof tasks) => api.importTasks({ project, tasks: list }, undefined, key);
    const both = await Promise.all([send(tasks), send(tasks)]);
    expect(both[0]).toMatchObject({ created: 2, keys: { one: 2, two: 1 } });
    expect(both[1]).toEqual(both[0]);
    const others = [
      [tasks[1]!],
      [...tasks, { title: 'Three', key: 'three' }],
      [{ ...tasks[0]!, title: '1' }, tasks[1]!],
    ];
    for (const list of others) await expect(send(list as typeof tasks)).rejects.toMatchObject({ code: 'conflict' });
    expect(await api.tasks({ project })).toHaveLength(2);
  });

  test('of 10,000 in one chain works', async () => {
    const tasks = Array.from({ length: 10_000 }, (_, index) => ({
      title: `Link ${index}`,
      key: `k${index}`,
      after: index === 0 ? [] : [`k${index - 1}`],
    }));
    expect(await api.importTasks({ project, tasks })).toMatchObject({ created: 10_000, first: 1, last: 10_000 });
    expect((await api.status({ project })).tasks).toEqual({ open: 10_000 });
  });
});

describe('evidence', () => {
  test('a commit that Tidemill did not land is recognized', async () => {
    const result = await api.verifyEvidence({ project });
    expect(result).toMatchObject({ ok: false, task: null, subject: 'Start' });
    expect(result.checks[0]!.text).toContain('did not land this commit');
  });

  test('a forged trailer is not accepted', async () => {
    await api.addTask({ project, title: 'One' });
    repository.git('commit', '-q', '--allow-empty', '-m', `Forged\n\nTask: #1\nEvidence: ${'a'.repeat(64)}`);
    const result = await api.verifyEvidence({ project, commit: 'HEAD' });
    expect(result.ok).toBe(false);
    expect(result.checks.find(({ name }) => name === 'evidence')).toMatchObject({ ok: false });
  });

  test.each(['nope', '--all', ''])('is not found for %j, which is not a commit', async (commit) => {
    await expect(api.verifyEvidence({ project, commit })).rejects.toMatchObject({
      code: expect.stringMatching(/not_found|bad_input/),
    });
  });
});
