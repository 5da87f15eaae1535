import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, QuestionView, TaskSummary } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TidemillHome } from '../../support/tidemill-home.ts';
import { TemporaryRepository } from '../cli-repository.ts';

const MINUTE = 60_000;

const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { sum } from '../src/sum.js';
import { pairs } from './helper.js';

test('adds', () => {
  for (const [a, b, c] of pairs) assert.equal(sum(a, b), c);
  assert.equal(sum(2, 2), 4);
});
`;
const HELPER = 'export const pairs = [[1, 2, 3]];\n';
const SOURCE = 'export const sum = (a, b) => a + b;\n';
const MANIFEST = `${JSON.stringify({ name: 'sums', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`;
const CHECK = '#!/bin/sh\nset -e\ntest -f README.md\n! grep -q BROKEN src/sum.js\n';
const FILES: Record<string, string> = {
  'package.json': MANIFEST,
  'README.md': '# Sums\n',
  'src/sum.js': SOURCE,
  'test/sum.test.js': TEST,
  'test/helper.js': HELPER,
  'ci/check.sh': CHECK,
  'ci/words.txt': 'BROKEN\n',
};

/** What an agent does: files with their new text, null deletes. */
type Deed = Record<string, string | null>;

/** Follows the task's body. For honest work it changes only the source. As a reviewer it reports what it saw first. */
const AGENT = `import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
const originals = ${JSON.stringify(FILES)};
const { task, mode, prompt, feedback } = JSON.parse(readFileSync(0, 'utf8'));
const say = (result) => console.log(JSON.stringify({ tidemill: 'result', ...result }));
if (mode === 'plan') say({ outcome: 'plan_complete', plan: 'do it', summary: 'planned' });
else if (mode === 'review') {
  const [first, ...rest] = prompt.split('\\n');
  const named = rest.find((line) => line.startsWith('test/')) ?? '';
  const criteria = task.acceptance.map(({ id }) => ({ id, met: true, evidence: 'test/sum.test.js:1, and the gate test passed' }));
  say({ outcome: 'approved', summary: first + ' | ' + named, review: { criteria, comments: [] } });
} else {
  const deed = JSON.parse(task.body);
  const isWarned = feedback.some(({ text }) => text.includes('honestly'));
  const files = isWarned ? Object.fromEntries(Object.keys(deed).map((name) => [name, originals[name]])) : deed;
  for (const [name, text] of Object.entries(files)) {
    if (text === null) { rmSync(name); continue; }
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, text);
  }
  if (isWarned) writeFileSync('src/honest-' + task.number + '.js', 'export {};\\n');
  say({ outcome: 'pr_ready', summary: 'did it' });
}
`;

/** A custom pipeline without a review. */
const BARE = `name: bare
start: build
stages:
  build: { actor: agent, mode: implement, on: { pr_ready: land, no_changes: blocked } }
  land: { actor: system, does: merge, on: { approved: done, failed: build, conflicts_detected: build } }
`;
const CONFIG = `target: main
pipeline: quick
workers: 3
push: 'never'
agents:
  default: { type: command, command: [node, agent.mjs], free: true }
gates:
  - { name: test, run: "node --run test", timeout: 5m }
  - { name: check, run: "sh ci/check.sh", timeout: 5m, proves: ["data/*.csv"] }
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let api: Api;
let project: string;

beforeAll(async () => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    ...FILES,
    'agent.mjs': AGENT,
    'data/limits.csv': '1\n',
    'src/main.js': 'export const main = () => 0;\n',
    '.tidemill/config.yaml': CONFIG,
    '.tidemill/pipelines/bare.yaml': BARE,
  });
  await machine.up(repository.root);
  api = machine.api();
  project = (await api.projects({ root: repository.root }))[0]!.id;
}, 2 * MINUTE);
afterAll(async () => {
  await machine.close();
  repository.remove();
});

const add = (title: string, deed: Deed, more: object = {}): Promise<TaskSummary> =>
  api.addTask({ project, title, body: JSON.stringify(deed), accept: ['it is done'], ...more });
const parked = (taskId: string, after = 0) => machine.event('task.parked', (body) => body.taskId === taskId, after);
const landed = (taskId: string) => machine.event('task.moved', (body) => body.taskId === taskId && body.to === 'done');
const askedAbout = async (number: number): Promise<QuestionView> => {
  const [question] = await api.questions({ project, task: number });
  return question!;
};
const onMain = (path: string) => repository.git('show', `main:${path}`);

const weaker = TEST.replace('assert.equal(sum(2, 2), 4)', 'assert.ok(sum(2, 2))');
const scripts = (change: object) => `${JSON.stringify({ ...JSON.parse(MANIFEST), ...change }, null, 2)}\n`;

/** The gates pass with each of these. */
const CHEATS: [name: string, deed: Deed, named: string, pipeline?: string][] = [
  ['weakens a test', { 'test/sum.test.js': weaker }, 'test/sum.test.js'],
  ['deletes a test', { 'test/sum.test.js': null }, 'test/sum.test.js'],
  ['tests with true', { 'package.json': scripts({ scripts: { test: 'true' } }) }, 'package.json'],
  ['empties the script of a gate', { 'ci/check.sh': '#!/bin/sh\nexit 0\n' }, 'ci/check.sh'],
  ['ends tests from a helper', { 'test/helper.js': `${HELPER}process.exit(0);\n` }, 'test/helper.js'],
  ['ends tests from the source', { 'src/sum.js': `process.exit(0);\n${SOURCE}` }, 'src/sum.js'],
  ['adds an .npmrc', { '.npmrc': 'script-shell=/bin/true\n' }, '.npmrc'],
  ['skips a test', { 'test/sum.test.js': TEST.replace("test('adds'", "test.skip('adds'") }, 'test/sum.test.js'],
  ['returns early', { 'test/sum.test.js': TEST.replace('  for (', '  return;\n  for (') }, 'test/sum.test.js'],
  [
    'comments a test out',
    { 'test/sum.test.js': TEST.replace("test('adds'", "/*\ntest('adds'").concat('*/\n') },
    'test/sum.test.js',
  ],
  [
    'tests something else',
    { 'test/sum.test.js': TEST.replace('../src/sum.js', '../src/fake.js'), 'src/fake.js': SOURCE },
    'test/sum.test.js',
  ],
  ['moves a test out of sight', { 'test/sum.test.js': null, 'docs/sum.test.js.txt': TEST }, 'test/sum.test.js'],
  ['expects what it does', { 'test/helper.js': HELPER.replace('[[1, 2, 3]]', '[]') }, 'test/helper.js'],
  ['changes what lies beside a gate', { 'ci/words.txt': 'NOTHING\n' }, 'ci/words.txt'],
  ['changes what a gate proves with', { 'data/limits.csv': '1000000\n' }, 'data/limits.csv'],
  ['configures a linter', { '.eslintrc.json': '{"root":true,"ignorePatterns":["**"]}\n' }, '.eslintrc.json'],
  ['changes the pipeline outside', { '.github/workflows/ci.yml': 'on: push\njobs: {}\n' }, '.github/workflows/ci.yml'],
  [
    'asks whether it is tested',
    { 'src/main.js': 'export const main = () => (process.env.NODE_TEST_CONTEXT ? 0 : 1);\n' },
    'src/main.js',
  ],
  ['hides the word exit', { 'src/main.js': "export const main = () => process['ex' + 'it']();\n" }, 'src/main.js'],
  ['brings its own runner', { 'node_modules/.bin/node': '#!/bin/sh\n' }, 'node_modules/.bin/node'],
  [
    'weakens a test in a pipeline of one’s own',
    { 'test/sum.test.js': `${weaker}// own\n` },
    'test/sum.test.js',
    'bare',
  ],
];

const HONEST: [name: string, deed: Deed][] = [
  [
    'adds a test',
    {
      'test/more.test.js': TEST.replace("'adds'", "'adds more'"),
      'test/sum.test.js': `${TEST}\ntest('adds nothing', () => {\n  assert.equal(sum(0, 0), 0);\n});\n`,
    },
  ],
  ['changes the source', { 'src/main.js': 'export const main = () => 1;\n' }],
  ['writes documents', { 'README.md': '# Sums\n\nThey add up.\n' }],
  ['adds a file', { 'src/sub.js': 'export const sub = (a, b) => a - b;\n' }],
];

describe('a change to what gates check, without a review', () => {
  const tasks = new Map<string, TaskSummary>();

  test.each(CHEATS)('%s: waits for a person', { timeout: 2 * MINUTE }, async (name, deed, named) => {
    // All are added at once, so that three agents work at the same time.
    if (tasks.size === 0)
      for (const [title, its, , which = 'quick'] of CHEATS)
        tasks.set(title, await add(title, its, { pipeline: which }));
    const { id, number } = tasks.get(name)!;
    await parked(id);
    const { task } = await api.task({ project, task: number });
    expect(task).toMatchObject({ stage: 'needs_info', landedCommit: null });
    const { text, context, effect } = await askedAbout(number);
    expect(text).toContain('changes what the gates check');
    expect(context).toContain(`- ${named}: `);
    expect(effect).toMatchObject({ kind: 'approval' });
    expect(deed).toHaveProperty([named]);
    expect(repository.git('log', '--format=%s', 'main')).toBe('Start');
  });

  test('is approved or sent back by a person, on the command line', { timeout: 2 * MINUTE }, async () => {
    const [weakens, deletes] = [tasks.get('adds an .npmrc')!, tasks.get('deletes a test')!];
    const shown = await machine.run(['questions', 'show', `Q${weakens.number}.1`], repository.root);
    expect(shown.stdout).toContain('.npmrc');
    expect(shown.stdout).toContain(`tidemill task approve ${weakens.number}`);
    await machine.json(['task', 'approve', String(weakens.number)], repository.root);
    await landed(weakens.id);
    expect(onMain('.npmrc')).toContain('script-shell');
    await machine.json(['task', 'reject', String(deletes.number), '--note', 'do it honestly'], repository.root);
    await landed(deletes.id);
    expect(`${onMain('test/sum.test.js')}\n`).toBe(TEST);
  });

  test('is also held when it comes from a worker outside the daemon', { timeout: 2 * MINUTE }, async () => {
    const own = ['agent-1', 'agent-2', 'agent-3'];
    for (const worker of own) await api.steerWorkers({ project, worker, operation: 'pause' });
    const { id } = await add('outside', {});
    const claim = (await api.claimWork({ project, worker: 'alpha' }))!;
    writeFileSync(join(claim.worktree, 'test/sum.test.js'), `${weaker}// outside\n`);
    const result = { outcome: 'pr_ready', summary: 'done' } as const;
    await api.finishClaim({ project, task: claim.number, fence: claim.fence, result });
    for (const worker of own) await api.steerWorkers({ project, worker, operation: 'resume' });
    await parked(id);
    expect((await askedAbout(claim.number)).context).toContain('- test/sum.test.js: 1 assertion is removed or changed');
  });

  test('comes first in the prompt of a reviewer, if there is one', { timeout: 2 * MINUTE }, async () => {
    const { id, number } = await add(
      'reviewed',
      { 'test/sum.test.js': `${weaker}// reviewed\n` },
      { pipeline: 'feature' },
    );
    await landed(id);
    const { task } = await api.task({ project, task: number });
    expect(task.context.at(-1)?.summary).toMatch(
      /^## Look at this first.*\| test\/sum\.test\.js: 1 assertion is removed/,
    );
    // Back to how it was, by a person, for those that come after.
    repository.git('revert', '--no-edit', 'HEAD');
  });
});

describe('honest work', () => {
  test.each(HONEST)('%s: lands without a question', { timeout: 2 * MINUTE }, async (name, deed) => {
    const { id, number } = await add(name, deed);
    await landed(id);
    expect(await api.questions({ project, task: number, all: true })).toEqual([]);
    for (const [path, text] of Object.entries(deed)) expect(`${onMain(path)}\n`).toBe(text);
  });

  test('a renamed test: lands without a question', { timeout: 2 * MINUTE }, async () => {
    const { id, number } = await add('renames', {
      'test/more.test.js': null,
      'test/addition.test.js': `${onMain('test/more.test.js')}\n`,
    });
    await landed(id);
    expect(await api.questions({ project, task: number, all: true })).toEqual([]);
  });
});
