import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;

/** Leaves a mark when it was started, and puts a key into its change, whatever it is told. */
const AGENT = `import { readFileSync, writeFileSync } from 'node:fs';
const { mode, task } = JSON.parse(readFileSync(0, 'utf8'));
const end = (result) => console.log(JSON.stringify({ tidemill: 'result', summary: 'done', ...result }));
writeFileSync('started.txt', task.title);
if (mode === 'plan') end({ outcome: 'plan_complete', plan: 'Write it.', planSummary: 'Write it.' });
else {
  writeFileSync('lib/key.mjs', 'export const key = "' + ['AKIA', 'ABCDEFGHIJKLMNOP'].join('') + '";\\n');
  end({ outcome: 'pr_ready' });
}
`;
const PACKAGE = '{"type":"module","scripts":{"test":"node --test"}}';
const CODE = { 'agent.mjs': AGENT, 'lib/a.mjs': 'export const a = 1;\n' };
const passing = (value: number) =>
  `import assert from 'node:assert';\nimport test from 'node:test';\nimport { a } from './a.mjs';\ntest('a', () => assert.equal(a, ${value}));\n`;

/** What `init`, one task and `up --until-idle` say in a new repository. */
async function walk(machine: TidemillHome, files: Record<string, string>, ...options: string[]) {
  const repository = new TemporaryRepository(files);
  const { root } = repository;
  const init = await machine.run(['init', ...options], root);
  repository.git('add', '-A');
  repository.git('commit', '-qm', 'Set up Tidemill');
  await machine.run(['task', 'add', 'Add a thing', '--accept', 'There is a thing'], root);
  const up = await machine.run(['up', '--until-idle', '--plain'], root);
  const detail = await machine.ask(root, (api, project) => api.task({ project, task: '1' }));
  return { repository, root, init, up, detail };
}

let machine: TidemillHome;
beforeAll(() => {
  machine = new TidemillHome({ USER: 'ada' });
});
const repositories: TemporaryRepository[] = [];
afterAll(async () => {
  await machine.close();
  for (const repository of repositories) repository.remove();
});
const first = async (...args: [Record<string, string>, ...string[]]) => {
  const walked = await walk(machine, ...args);
  repositories.push(walked.repository);
  return walked;
};

describe('init and one task in a fresh repository', { timeout: 3 * MINUTE }, () => {
  test('with a key in the change: it does not land, and a person is asked about the key', async () => {
    const { root, init, up, detail } = await first(
      { ...CODE, 'package.json': PACKAGE, 'lib/a.test.mjs': passing(1) },
      '--agent',
      'node agent.mjs',
    );
    expect(init.stdout).toMatch(/gate secrets: keys in the change\n {2}gate docs: /);
    expect(init.stdout).toMatch(/Running npm test once on main, without an agent.*\nmain passes its gates/);
    expect(up.code, up.stdout + up.stderr).toBe(1);
    // The one sentence is about the key.
    expect(up.stdout.replace(/\s+/g, ' ')).toMatch(
      /One thing needs you\. .*: #1 Add a thing: gate secrets found AWSAccessKeyID \(critical\) in lib\/key\.mjs:1, and the agent did not remove it\./,
    );
    const [question] = await machine.ask(root, (api, project) => api.inbox({ project }));
    expect(question!.title).toContain(
      'gate secrets found AWSAccessKeyID (critical) in lib/key.mjs:1, and the agent did not remove it.',
    );
    // The agent repeats its change, which is no progress.
    expect(detail.task).toMatchObject({ stage: 'blocked', blocked: { reason: 'no_progress' } });
    expect(existsSync(join(root, 'lib/key.mjs'))).toBe(false);
    expect(up.stdout + up.stderr).not.toContain('no security gate');
  });

  test('with no tests: no task starts, and one sentence says what to add', async () => {
    const { init, up, detail } = await first(CODE, '--agent', 'node agent.mjs');
    const sentence =
      /no gate tests a change, so no task starts; add a gate with the command that runs the tests, or set `untested: true`/;
    expect(init.stdout).toMatch(sentence);
    expect(up.code).toBe(1);
    expect(up.stdout.replace(/\s+/g, ' ')).toMatch(/One thing needs you: No gate tests a change, so no task starts;/);
    expect(detail).toMatchObject({ task: { stage: 'open' }, runs: [] });
  });

  test('with a failing target: init explains it, and no task starts', async () => {
    const { init, up, detail, root } = await first(
      { ...CODE, 'package.json': PACKAGE, 'lib/a.test.mjs': passing(2) },
      '--agent',
      'node agent.mjs',
    );
    expect(init.code).toBe(0);
    expect(init.stdout).toContain('main itself fails test');
    expect(init.stdout).toContain('tidemill task add "Repair test" --repairs test');
    expect(up.code).toBe(1);
    expect(up.stdout.replace(/\s+/g, ' ')).toMatch(
      /One thing needs you\..*main itself fails test, so no new task starts\./,
    );
    expect(detail).toMatchObject({ task: { stage: 'open' }, runs: [] });
    // A repair task is not held.
    await machine.run(['task', 'add', 'Repair test', '--repairs', 'test', '--accept', 'It passes'], root);
    await machine.run(['up', '--until-idle'], root);
    const repair = await machine.ask(root, (api, project) => api.task({ project, task: '2' }));
    expect(repair.runs.length).toBeGreaterThan(0);
  });

  test('without an agent: up refuses with the command that installs one', async () => {
    const { init, up, detail } = await first({ ...CODE, 'package.json': PACKAGE, 'lib/a.test.mjs': passing(1) });
    expect(init.stdout).toMatch(/No coding agent is installed\. Install claude: \S/);
    expect(up).toMatchObject({ code: 2, stdout: '' });
    expect(up.stderr).toMatch(/^tidemill: \.tidemill\/config\.yaml: agents\.default: \S.*install.*\n$/);
    expect(detail).toMatchObject({ task: { stage: 'open' }, runs: [] });
  });
});
