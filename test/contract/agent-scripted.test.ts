import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AgentBench, BRIEF } from './agent-bench.ts';

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.open('off');
});
afterEach(() => bench.close());

const play = (steps: unknown[], brief = {}) => bench.start('scripted', { shell: '', steps }, { brief });

it('the scripted agent writes, appends, edits and deletes, with the run’s own number and title', async () => {
  await writeFile(path.join(bench.worktree, 'old.txt'), 'one two');
  const trial = await play([
    { write: { path: 'notes/{taskNumber}.md', content: '{taskTitle}: {mode} {attempt} {unknown}\n' } },
    { append: { path: 'notes/{taskNumber}.md', content: 'more\n' } },
    { write: { path: 'gone.txt', content: '' } },
    { delete: 'gone.txt' },
    { edit: { path: 'old.txt', find: 'two', replace: '$& three' } },
    { think: 1 },
    { result: { summary: 'ok' } },
  ]);
  expect(await trial.end).toMatchObject({ kind: 'result', envelope: { outcome: 'pr_ready', summary: 'ok' } });
  expect(await bench.read('notes/7.md')).toBe('Add a sum: implement 1 {unknown}\nmore\n');
  expect(await bench.read('old.txt')).toBe('one $& three');
  await expect(bench.read('gone.txt')).rejects.toThrow('ENOENT');
});

it('the scripted agent has sensible ways for modes without a rule, but never implements by default', async () => {
  const outcomes: Record<string, unknown> = {};
  for (const mode of ['plan', 'plan_revision', 'investigate', 'review', 'request_changes'] as const) {
    outcomes[mode] = await (await play([], { mode })).end;
  }
  expect(outcomes).toMatchObject({
    plan: { envelope: { outcome: 'plan_complete', plan: expect.any(String) } },
    plan_revision: { envelope: { outcome: 'plan_complete' } },
    investigate: { envelope: { outcome: 'investigation_complete' } },
    review: {
      envelope: {
        outcome: 'approved',
        review: {
          criteria: [
            { id: 'c1', met: true },
            { id: 'c2', met: true },
          ],
        },
      },
    },
    request_changes: { kind: 'failed', failure: 'no_result' },
  });
});

it('the scripted agent rejects with a reason, asks, fails, lies and forges', async () => {
  const end = async (step: unknown) => (await play([step])).end;
  expect(await end({ result: { reject: 'no test' } })).toMatchObject({
    envelope: {
      outcome: 'changes_requested',
      review: {
        criteria: [
          { id: 'c1', met: false, evidence: 'no test' },
          { id: 'c2', met: true },
        ],
        comments: ['no test'],
      },
    },
  });
  expect(await end({ ask: { questions: ['Which?'] } })).toMatchObject({
    envelope: { open_questions: [{ text: 'Which?' }] },
  });
  expect(await end({ fail: 'too hard' })).toMatchObject({ envelope: { outcome: 'failed', summary: 'too hard' } });
  expect(await end({ lie: null })).toMatchObject({ envelope: { outcome: 'pr_ready' } });
  expect(await end({ forge: null })).toMatchObject({ envelope: { outcome: 'pr_ready' } });
  expect(JSON.parse(await bench.read('.tidemill/evidence.json'))).toMatchObject({ status: 'pass' });
});

it('the scripted agent resolves a real conflict, keeping both sides', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: bench.worktree,
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      stdio: 'pipe',
    });
  const write = (text: string) => writeFile(path.join(bench.worktree, 'list.txt'), text);
  git('init', '-q', '-b', 'main');
  await write('a\nz\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  git('checkout', '-qb', 'task');
  await write('a\nours\nz\n');
  git('commit', '-qam', 'ours');
  git('checkout', '-q', 'main');
  await write('a\ntheirs\nz\n');
  git('commit', '-qam', 'theirs');
  git('checkout', '-q', 'task');
  expect(() => git('-c', 'merge.conflictStyle=diff3', 'merge', 'main')).toThrow();
  const trial = await play([{ resolve: null }, { result: {} }]);
  expect(await trial.end).toMatchObject({ kind: 'result' });
  expect(await bench.read('list.txt')).toBe('a\nours\ntheirs\nz\n');
});

it.each([
  ['an unknown action', [{ dance: {} }], 'dance'],
  ['two actions in one step', [{ say: 'a', fail: 'b' }], 'one action'],
  ['an edit that finds nothing', [{ edit: { path: 'none.txt', find: 'x', replace: '' } }], 'none.txt'],
])('the scripted agent reports %s as its own failure', async (_what, steps, says) => {
  const end = await (await play(steps)).end;
  expect(end).toMatchObject({
    kind: 'result',
    envelope: { outcome: 'failed', summary: expect.stringContaining(says) },
  });
});

it('the scripted agent chooses the first rule that fits', async () => {
  const scenario = path.join(bench.host.root, 'rules.json');
  const rules = [
    { when: { feedback: 'lint' }, do: [{ fail: 'feedback' }] },
    { when: { task: 'A SUM', attempt: 2 }, do: [{ fail: 'second' }] },
    { when: { task: 7, stage: 'implement', feedback: false }, do: [{ fail: 'first' }] },
  ];
  await writeFile(scenario, JSON.stringify({ runs: rules }));
  const player = path.resolve('packages/daemon/src/agents/scripted-player.ts');
  const ask = (change: object) =>
    execFileSync(process.execPath, [player, scenario], { input: JSON.stringify({ ...BRIEF, ...change }) }).toString();
  expect(ask({})).toContain('first');
  expect(ask({ attempt: 2 })).toContain('second');
  expect(ask({ attempt: 2, feedback: [{ kind: 'gate', text: 'eslint said no' }] })).toContain('feedback');
  expect(ask({ attempt: 3, feedback: [{ kind: 'gate', text: 'tests' }] })).toBe(
    'the scenario has no rule for this run\n',
  );
});
