import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Api, NewTask } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../../support/tidemill-home.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
let machine: TidemillHome;
let root: string;
beforeEach(() => {
  machine = new TidemillHome();
  root = join(machine.folder, 'repository');
});
afterEach(() => machine.close());

const RESULT = `echo '{"tidemill":"result","outcome":"pr_ready","summary":"done"}'`;

/** A repository with this config in addition to the usual lines, and an agent that does this in its worktree. */
async function repository(config: string, agent: string, files: Record<string, string> = {}): Promise<void> {
  const head = 'target: main\npipeline: quick\nagents:\n  default: { type: command, command: [./agent], free: true }\n';
  const all = {
    '.gitignore': 'node_modules/\n.cache/\n.env.test\n',
    agent: `#!/bin/sh\ncat > /dev/null\n${agent}\n${RESULT}\n`,
    '.tidemill/config.yaml': head + config,
    ...files,
  };
  await save(all);
  await chmod(join(root, 'agent'), 0o755);
  await machine.git(root, 'init', '-q', '-b', 'main');
  await commit('Start');
}

async function save(files: Record<string, string>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
}

async function commit(message: string): Promise<void> {
  await machine.git(root, 'add', '-A');
  await machine.git(root, 'commit', '-q', '-m', message);
}

let api: Api;
let project: string;

/** The daemon at work on the repository. */
async function start(): Promise<void> {
  await machine.up(root);
  api = machine.api();
  const [known] = await api.projects({ root });
  project = known!.id;
}

const add = (title: string, more: Partial<NewTask> = {}) => api.addTask({ project, title, ...more });
const detail = (number: number) => api.task({ project, task: String(number) });
const task = async (number: number) => (await detail(number)).task;
const evidence = () => api.evidence({ project });
const alerts = async () => (await api.inbox({ project })).filter(({ kind }) => kind === 'alert');
const arrives = (title: string, stage: string) => until(async () => (await byTitle(title))?.stage === stage);
const byTitle = async (title: string) => (await api.tasks({ project })).find((each) => each.title === title);

describe('a proof', { timeout: 2 * MINUTE }, () => {
  test('lands the repairs of a gate that fixes, after all gates ran on them', async () => {
    await repository(
      `gates:
  - { name: format, run: "sed -i s/UGLY/pretty/ *.txt", fixes: true }
  - { name: lint, run: "! grep -l UGLY *.txt" }
`,
      'echo UGLY >> a.txt',
      { 'a.txt': 'start\n' },
    );
    await start();
    await add('work');
    await arrives('work', 'done');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('start\npretty\n');
    const tree = await machine.git(root, 'rev-parse', 'main^{tree}');
    const passed = (await evidence()).filter((link) => link.tree === tree && link.status === 'pass');
    expect(passed.map(({ gate }) => gate)).toEqual(['integrity', 'format', 'lint']);
    expect(passed[1]).toMatchObject({ level: 'standard', config: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(passed[1]?.environment).toMatch(/linux|darwin/);
  });

  test('runs a gate that needs a failed gate only when that gate passes', async () => {
    await repository(
      `gates:
  - { name: test, run: "cat node_modules/built", needs: [build] }
  - { name: build, run: "mkdir -p node_modules; cat *.txt > node_modules/built; ! grep -q BROKEN *.txt" }
`,
      'if grep -q BROKEN a.txt; then echo fine > a.txt; else echo BROKEN > a.txt; fi',
      { 'a.txt': 'start\n' },
    );
    await start();
    await add('work');
    await arrives('work', 'done');
    const ran = (await evidence()).map(({ gate, status }) => `${gate} ${status}`);
    expect(ran).toEqual(['integrity pass', 'build fail', 'build fail', 'integrity pass', 'build pass', 'test pass']);
  });

  test('that fails and then passes is recorded as a flake, with an alert', async () => {
    const flag = join(machine.folder, 'flag');
    await repository(
      `sandbox: off
gates:
  - { name: test, run: "test -f a.txt || exit 0; test -f ${flag} || { touch ${flag}; exit 1; }" }
`,
      'echo x > a.txt',
    );
    await start();
    await add('work');
    await arrives('work', 'done');
    const ran = (await evidence()).filter(({ gate }) => gate === 'test');
    expect(ran.map(({ status, attempt }) => `${status} ${attempt}`)).toEqual(['fail 1', 'pass 2']);
    expect((await alerts()).map(({ text }) => text).join()).toMatch(/test failed and then passed on the same code/);
    expect((await api.metrics({ project, period: '24h' })).flakes).toEqual([{ gate: 'test', runs: 1, flakes: 1 }]);
    const { stdout } = await machine.run(['metrics'], root);
    expect(stdout).toContain('Flaky: gate test failed and then passed on the same code, 1 of 1 times.');
  });

  test('made with another command is not evidence', async () => {
    // The settings are not tracked, so the target does not move and its tree stays the proven one.
    await repository(
      `gates:
  - { name: test, run: "true" }
`,
      'echo x > a.txt',
      { '.gitignore': '.tidemill/\n' },
    );
    await save({
      '.tidemill/pipelines/slow.yaml': `name: slow
start: write
stages:
  write: { actor: agent, mode: implement, on: { pr_ready: check, no_changes: blocked } }
  check: { actor: system, does: verify, on: { approved: look, failed: write } }
  look: { actor: human, on: { approved: land, changes_requested: write } }
  land: { actor: system, does: merge, on: { approved: done, failed: write, conflicts_detected: write } }
`,
    });
    await start();
    await add('work', { pipeline: 'slow' });
    const { seq } = await machine.event('task.moved', ({ to }) => to === 'look');
    const file = join(root, '.tidemill/config.yaml');
    await writeFile(file, readFileSync(file, 'utf8').replace('"true"', '"test ! -f a.txt"'));
    await machine.event('project.configured', () => true, seq);
    await api.approveTask({ project, task: '1' });
    const { body } = await machine.event('task.moved', ({ from }) => from === 'land');
    expect(body).toMatchObject({ to: 'write' });
    expect(await machine.git(root, 'rev-list', '--count', '--grep=^Task:', 'main')).toBe('0');
  });

  test('is not repeated for the same code: the agent gets one message, then a person is asked', async () => {
    await repository(`gates:\n  - { name: test, run: "! grep -q BAD *.txt" }\n`, 'echo BAD > a.txt', { 'b.txt': '\n' });
    await start();
    await add('work');
    await machine.event('task.blocked');
    expect(await task(1)).toMatchObject({ stage: 'blocked', blocked: { reason: 'no_progress' } });
    expect((await evidence()).filter(({ gate }) => gate === 'test')).toHaveLength(2);
  });
});

describe('the environment', { timeout: 2 * MINUTE }, () => {
  test('causes a gate to fail on the target too: no task is sent back, a repair task can land', async () => {
    await repository(
      `gates:
  - { name: test, run: "! grep -q BROKEN b.txt" }
`,
      'if [ -f repair ]; then echo fine > b.txt; else echo x >> a.txt; fi',
      { 'b.txt': 'BROKEN\n' },
    );
    await start();
    await add('work');
    await until(async () => ((await task(1)).waiting ?? '').includes('also fails on main itself'));
    const [told, ...others] = await alerts();
    expect(others).toEqual([]);
    expect(told?.text).toMatch(/main itself fails test.*--repairs test/s);
    expect((await detail(1)).runs).toHaveLength(1);
    // Its first attempt does not repair it, so it is sent back as for any other gate.
    const repair = 'if [ -f tried.txt ]; then echo fine > b.txt; else echo x > tried.txt; fi';
    await writeFile(join(root, 'agent'), `#!/bin/sh\ncat > /dev/null\n${repair}\n${RESULT}\n`);
    await commit('An agent that repairs');
    await expect(add('repair', { repairs: ['tests'] })).rejects.toThrow('no gate "tests"');
    await add('repair', { repairs: ['test'], priority: 0 });
    await arrives('repair', 'done');
    await arrives('work', 'done');
  });

  test('is checked while the first agent works: a broken target is reported before any work is handed in', async () => {
    const go = join(machine.folder, 'go');
    await repository(
      `sandbox: off
gates:
  - { name: test, run: "! grep -q BROKEN b.txt" }
`,
      `while [ ! -e ${go} ]; do sleep 0.05; done; echo x > a.txt`,
      { 'b.txt': 'fine\n' },
    );
    await start();
    await save({ 'b.txt': 'BROKEN\n' });
    await commit('From outside');
    await add('work');
    await until(async () => (await alerts()).some(({ text }) => text.includes('main itself fails test')));
    expect((await detail(1)).runs).toMatchObject([{ status: 'running' }]);
    await save({ 'b.txt': 'fine again\n' });
    await commit('Repaired from outside');
    await writeFile(go, '');
    await arrives('work', 'done');
  });

  test('lacks a program: nothing is counted, and work continues when the program is there', async () => {
    await repository(
      `sandbox: off
gates:
  - { name: test, run: "${join(machine.folder, 'tool')}" }
`,
      'echo x > a.txt',
    );
    await start();
    await add('work');
    await until(async () => (await task(1)).waiting !== null);
    expect(await task(1)).toMatchObject({ stage: 'verify', blocked: null });
    await writeFile(join(machine.folder, 'tool'), '#!/bin/sh\nexit 0\n');
    await chmod(join(machine.folder, 'tool'), 0o755);
    await arrives('work', 'done');
    expect((await detail(1)).runs).toHaveLength(1);
  });

  test.each([
    ['itself', 'kill -9 $$'],
    ['in a program of it', "sh -c 'kill -9 $$'; exit $?"],
  ])('causes a gate to be killed %s; nothing is counted, and work continues automatically', async (_name, dies) => {
    const memory = join(machine.folder, 'memory');
    await repository(
      `sandbox: off
gates:
  - name: test
    run: |
      test -f a.txt || exit 0
      test -f ${memory} || { ${dies}; }
`,
      'echo x > a.txt',
    );
    await start();
    await add('work');
    await until(async () => (await task(1)).waiting !== null);
    expect(await task(1)).toMatchObject({ stage: 'verify', blocked: null, counters: { failures: {} } });
    expect((await alerts()).map(({ text }) => text).join()).toContain('short of memory');
    await writeFile(memory, '');
    await arrives('work', 'done');
    const { runs } = await detail(1);
    expect(runs.map(({ validationRetries }) => validationRetries)).toEqual([0]);
  });

  test('that cannot be prepared costs nothing: no run starts, one notice, and it continues automatically', async () => {
    await repository(
      `workers: 3
prepare:
  - { run: "sh deps.sh", files: [deps.sh], network: false }
include: [.env.test]
cleanup: ["echo $TIDEMILL_WORKTREE $TIDEMILL_PORT_BASE >> $PWD/../../../../../cleaned"]
sandbox: off
gates:
  - { name: test, run: "cat node_modules/dep .env.test" }
`,
      'cat node_modules/dep .env.test >> /dev/null || exit 1; echo x > "$TIDEMILL_WORKTREE.txt"',
      { 'deps.sh': 'echo no such registry; exit 1\n' },
    );
    await save({ '.env.test': 'A=1\n' });
    await start();
    for (const title of ['one', 'two', 'three']) await add(title);
    await until(async () => (await task(1)).waiting !== null);
    expect((await detail(1)).runs).toEqual([]);
    expect((await alerts()).map(({ text }) => text)).toEqual([expect.stringMatching(/sh deps\.sh.*no such registry/s)]);
    await writeFile(join(root, 'deps.sh'), 'mkdir -p node_modules; echo dep > node_modules/dep\n');
    await commit('Dependencies can be had');
    for (const title of ['one', 'two', 'three']) await arrives(title, 'done');
    const names = readdirSync(root).filter((name) => name.endsWith('.txt'));
    expect(names.sort()).toEqual(['1-one.txt', '2-two.txt', '3-three.txt']);
    const cleaned = () =>
      readFileSync(join(machine.data, '..', 'cleaned'), 'utf8')
        .trim()
        .split('\n')
        .sort();
    await until(() => cleaned().length === 3);
    expect(cleaned()).toEqual(['1-one 10020', '2-two 10040', '3-three 10060']);
    expect(existsSync(join(root, 'node_modules'))).toBe(false);
    await rm(join(root, '.env.test'));
  });
});
