import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectStatus, TaskDetail, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

beforeEach(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ 'package.json': '{"scripts":{"test":"node --test"}}' });
  root = repository.root;
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});
const configure = (text = QUIET_CONFIG) => repository.write({ '.tidemill/config.yaml': text });

describe('init', () => {
  test('writes a config with what it found, names the next two commands and commits nothing', async () => {
    const { code, stdout } = await machine.run(['init'], root);
    expect(code).toBe(0);
    for (const text of ['gate test: npm test', 'work lands on main', 'tidemill task add', 'tidemill up'])
      expect(stdout).toContain(text);
    expect(repository.git('log', '--oneline').split('\n')).toHaveLength(1);
    expect(repository.git('status', '--porcelain')).toBe('?? .tidemill/');
    expect(stdout).not.toContain('\u001b');
  });

  test('does not change an existing config, even from a subfolder', async () => {
    configure();
    repository.write({ 'lib/deep/a.txt': '' });
    const { code, stdout } = await machine.run(['init'], join(root, 'lib/deep'));
    expect(code).toBe(0);
    expect(stdout).toContain('already exists and was not changed');
    expect(readFileSync(join(root, '.tidemill/config.yaml'), 'utf8')).toBe(QUIET_CONFIG);
  });

  test('without an installed agent it says in one line what to install, and so does up', async () => {
    const { stdout } = await machine.run(['init'], root);
    const [line, ...more] = stdout.split('\n').filter((each) => each.includes('install'));
    expect(line).toMatch(/^ {2}No coding agent is installed\. Install claude: \S.* \(tidemill agents lists others\)$/);
    expect(more).toEqual([]);
    expect(readFileSync(join(root, '.tidemill/config.yaml'), 'utf8')).toMatch(/default: \{ type: claude \} {3}# not i/);
    const up = await machine.run(['up', '--until-idle'], root);
    expect(up).toMatchObject({ code: 2, stdout: '' });
    expect(up.stderr).toMatch(/^tidemill: \.tidemill\/config\.yaml: agents\.default: \S.*install.*\n$/);
    const doctor = await machine.run(['doctor'], root);
    expect(doctor.stdout).toMatch(/problem +agents .*agents\.default: \S.*install/);
  });

  test('takes the best of the installed agents, and any that is named', async () => {
    const programs = join(machine.folder, 'programs');
    repository.write({ 'agents/mine.sh': '#!/bin/sh\n' });
    chmodSync(join(root, 'agents/mine.sh'), 0o755);
    mkdirSync(programs);
    for (const [name, script] of Object.entries({ codex: 'exit 1', gemini: 'echo 9.9.9', opencode: 'echo 1.2.3' })) {
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(programs, name), 0o755);
    }
    machine.env.PATH = `${programs}:${machine.env.PATH}`;
    const config = () => readFileSync(join(root, '.tidemill/config.yaml'), 'utf8');
    const fresh = async (...args: string[]) => {
      rmSync(join(root, '.tidemill'), { recursive: true, force: true });
      return machine.run(['init', ...args], root);
    };
    // Codex does not tell its version, so it is not the first choice.
    const best = await fresh();
    expect(best.stdout).toContain('  agent: gemini (9.9.9); also installed: codex, opencode\n');
    expect(best.stdout).toContain('  tidemill agents test default ');
    expect(config()).toContain('  default: { type: acp, preset: gemini }\n');
    await fresh('--agent', 'opencode');
    expect(config()).toContain('  default: { type: acp, preset: opencode }\n');
    await fresh('--agent', './agents/mine.sh "two words"');
    expect(config()).toContain('[ ./agents/mine.sh, two words ]');
    const refusals: [string, string, RegExp][] = [
      ['claude', root, /claude is not installed\n {2}Install it: \S/],
      ['opencde', root, /no program opencde on PATH\n {2}Did you mean opencode\?/],
      ['vim-agent', root, /Installed agents: codex, gemini, opencode\./],
      ['./mine.sh', root, /mine\.sh does not exist\n {2}A path starts at the root/],
      ['./mine.sh', join(root, 'agents'), /--agent \.\/agents\/mine\.sh\n$/],
      [' ', root, /empty/],
    ];
    rmSync(join(root, '.tidemill'), { recursive: true });
    for (const [agent, cwd, text] of refusals) {
      const refused = await machine.run(['init', '--agent', agent], cwd);
      expect(refused.stderr).toMatch(text);
      expect(refused.code).toBe(2);
    }
    expect(existsSync(join(root, '.tidemill'))).toBe(false);
  });

  test('tests the agent where that was agreed to, and prints JSON', async () => {
    const script = 'cat > /dev/null\necho "the mill turns" > tidemill-trial.txt\n';
    const result = '{"tidemill":"result","outcome":"pr_ready","summary":"wrote it"}';
    repository.write({
      'mine.sh': `#!/bin/sh\n${script}echo '${result}'\n`,
      'liar.sh': `#!/bin/sh\necho '${result}'\n`,
    });
    for (const name of ['mine.sh', 'liar.sh']) chmodSync(join(root, name), 0o755);
    const args = ['init', '--agent', './mine.sh', '--test-agent'];
    const { written, gates, trial } = await machine.json<{ written: boolean; gates: unknown; trial: object }>(
      args,
      root,
    );
    expect({ written, gates }).toEqual({ written: true, gates: [{ name: 'test', run: 'npm test' }] });
    expect(trial).toMatchObject({ agent: 'default', ok: true });
    rmSync(join(root, '.tidemill'), { recursive: true });
    const lying = await machine.run(['init', '--agent', './liar.sh', '--test-agent'], root);
    expect(lying).toMatchObject({ code: 1, stdout: expect.stringContaining('default (command ./liar.sh) failed') });
  });

  test('works on the repository around the folder, also on one inside another', async () => {
    const inner = join(root, 'vendor/inner');
    mkdirSync(join(inner, 'lib'), { recursive: true });
    await machine.git(inner, 'init', '-q', '-b', 'trunk');
    await machine.git(inner, 'commit', '-q', '--allow-empty', '-m', 'Start');
    const { stdout } = await machine.run(['init'], join(inner, 'lib'));
    expect(stdout).toContain(`${inner}/.tidemill/config.yaml written.\n  work lands on trunk\n`);
    expect(existsSync(join(root, '.tidemill'))).toBe(false);
    configure();
    repository.write({ 'lib/a.txt': '' });
    writeFileSync(join(inner, '.tidemill/config.yaml'), QUIET_CONFIG.replace('main', 'trunk'));
    await machine.run(['task', 'add', 'Outer task'], join(root, 'lib'));
    await machine.run(['task', 'add', 'Inner task'], join(inner, 'lib'));
    const tasks = async (cwd: string) => (await machine.json<TaskSummary[]>(['task', 'list'], cwd)).map((t) => t.title);
    expect([await tasks(root), await tasks(inner)]).toEqual([['Outer task'], ['Inner task']]);
    expect(await machine.json<ProjectStatus>(['status'], join(inner, 'lib'))).toMatchObject({
      project: { root: inner },
    });
  });

  test('refuses a folder without a repository, and a repository without commits', async () => {
    expect(await machine.run(['init'], machine.home)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not in a git repository'),
    });
    await machine.git(machine.home, 'init', '-q');
    expect(await machine.run(['init'], machine.home)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no commits yet'),
    });
  });
});

describe('tasks without a daemon', () => {
  beforeEach(() => configure());

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

  test('10,000 at once', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `- { key: k${index}, title: Task ${index} }`);
    writeFileSync(join(root, 'many.yaml'), lines.join('\n'));
    expect(await machine.json(['task', 'add', '--from', 'many.yaml'], root)).toMatchObject({ created: 10_000 });
    expect(await machine.json<TaskSummary[]>(['task', 'list'], root)).toHaveLength(10_000);
  });

  test('several commands at once all take effect', async () => {
    const added = await Promise.all(['a', 'b', 'c', 'd'].map((title) => machine.run(['task', 'add', title], root)));
    expect(added.map(({ code, stderr }) => [code, stderr])).toEqual(Array(4).fill([0, '']));
    const numbers = (await machine.json<TaskSummary[]>(['task', 'list'], root)).map(({ number }) => number);
    expect(numbers).toEqual([1, 2, 3, 4]);
  });
});

describe('bad input', () => {
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
  test.each(bad)('%s: exit 2, an error on standard error, nothing changed', async (_, args, message) => {
    configure();
    const { code, stdout, stderr } = await machine.run(args, root);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('with --json the refusal is one line of JSON', async () => {
    configure();
    const { stderr } = await machine.run(['task', 'show', '9', '--json'], root);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'not_found', hint: expect.any(String) } });
  });

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

test.each([[], ['task'], ['task', 'add'], ['up'], ['events'], ['evidence'], ['snapshots'], ['doctor'], ['logs']])(
  'help of %s fits 80 columns or wraps, and succeeds',
  async (...args) => {
    const { code, stdout } = await machine.run([...args, '--help'], root);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: tidemill');
  },
);
