import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  detectionCases as cases,
  DEPENDS,
  detectedProjects as table,
} from '../../../../test/support/detection-cases.ts';
import { detect } from './detect/detect.ts';
import { initProject, splitWords } from './init.ts';
import { protectingGates } from './protection.ts';

const AGENT = { type: 'command', command: ['true'] };
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tm init ü '));
});
afterEach(() => rm(root, { recursive: true }));

const runs = (list: { run: string }[]) => list.map(({ run }) => run);

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
}

describe('the detection of a project', () => {
  test.each(cases)('finds its tools, steps and gates: $name', async ({ files, tools, prepare, gates }) => {
    await put(files);
    const detected = await detect(root, async () => false);
    expect(detected.tools).toEqual(tools);
    expect(runs(detected.prepare)).toEqual(prepare);
    expect(runs(detected.gates)).toEqual(gates);
    expect(new Set(detected.gates.map((gate) => gate.name)).size).toBe(gates.length);
  });

  test('lists the files that decide what is installed', async () => {
    await put({ ...table['workspaces: one install']!.files, '.npmrc': '', 'patches/a.patch': '', '.nvmrc': '24' });
    expect((await detect(root, async () => false)).prepare).toMatchObject([
      { files: ['package-lock.json', 'package.json', 'packages/*/package.json', '.npmrc', '.nvmrc', 'patches/**'] },
    ]);
  });

  test('starts everything through mise where it is installed, and says so where it is not', async () => {
    await put({ ...table['npm with a lock']!.files, 'mise.toml': '[tools]\nnode = "24"\n[tasks.test]\nrun = "x"\n' });
    const without = await detect(root, async () => false);
    expect(without.notes.join()).toContain('as they are on PATH');
    const { tools, prepare, gates } = await detect(root, async (program) => program === 'mise');
    expect(tools).toEqual(['mise', 'npm']);
    expect(prepare[0]?.run).toContain('mise install');
    expect(prepare[1]?.run).toContain("mise exec -- sh -c 'npm ci");
    expect(runs(gates)).toEqual([expect.stringContaining('mise run test')]);
  });

  test('takes a command of the CI for a language without a tool of its own, and only a plain one', async () => {
    const run = ['sudo swift test', 'swift test --x=$X', 'swift test --parallel'].map((text) => ({
      run: text,
    }));
    await put({
      'a.swift': '',
      '.github/workflows/ci.yml': JSON.stringify({ on: ['push'], jobs: { a: { steps: run } } }),
    });
    execFileSync('git', ['init', '-q'], { cwd: root });
    expect((await detect(root, async () => false)).gates).toMatchObject([
      { run: 'swift test --parallel', network: true },
    ]);
  });

  test('says that nothing tests the main language, instead of a gate that proves nothing about it', async () => {
    await put({
      'a.swift': '',
      'b.swift': '',
      'c.swift': '',
      'package.json': '{"scripts":{"lint":"prettier --check ."}}',
    });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const { gates, notes } = await detect(root, async () => false);
    expect(gates).toEqual([]);
    expect(notes.join()).toContain('most of the code is Swift, and no command that tests it was found');
  });

  test('expects a cache of Yarn that is committed from the checkout', async () => {
    const lock = { 'package.json': DEPENDS, 'yarn.lock': '__metadata:\n  version: 8\n' };
    await put({ ...lock, '.yarn/cache/a.zip': '', '.gitignore': '.pnp.*\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const makes = async () => (await detect(root, async () => false)).prepare[0]?.makes;
    expect(await makes()).toEqual(['.yarn/cache']);
    execFileSync('git', ['add', '.'], { cwd: root });
    expect(await makes()).toEqual([]);
  });

  test('does not count a lock file that git ignores: no worktree has it', async () => {
    await put({ ...table['npm with a lock']!.files, '.gitignore': '*-lock.*\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    expect(runs((await detect(root, async () => false)).prepare)).toEqual([
      'npm install --no-package-lock --no-audit --no-fund',
    ]);
    execFileSync('git', ['add', '-f', 'package-lock.json'], { cwd: root });
    expect(runs((await detect(root, async () => false)).prepare)).toEqual(['npm ci --no-audit --no-fund']);
  });

  test('proposes a bounded number of steps', async () => {
    for (let index = 0; index < 15; index += 1)
      await put({ [`p${index}/package.json`]: DEPENDS, [`p${index}/package-lock.json`]: '{}' });
    const { prepare, notes } = await detect(root, async () => false);
    expect(prepare).toHaveLength(10);
    expect(notes.join()).toContain('by hand');
  });
});

describe('init', () => {
  test.each(cases)('writes a valid config: $name', async ({ files, prepare, gates }) => {
    await put(files);
    const result = await initProject({ root, target: 'feature/ünïcode: "x"', agent: AGENT });
    expect(result).toMatchObject({ written: true, target: 'feature/ünïcode: "x"' });
    expect(runs(result.prepare)).toEqual(prepare);
    expect(runs(result.gates.filter(({ kind }) => kind === undefined))).toEqual(gates);
    expect(result.gates.flatMap(({ kind }) => kind ?? [])).toEqual(['secrets', 'docs']);
  });

  test('adds an audit where the registry answered, and says in one line when it did not', async () => {
    await put(table['npm with a lock']!.files);
    const asked: string[] = [];
    const init = (answers: boolean) =>
      initProject({ root, target: 'main', agent: AGENT, auditAnswers: async (run) => asked.push(run) > 0 && answers });
    const silent = await init(false);
    expect(silent.gates.map(({ name }) => name)).not.toContain('audit');
    expect(silent.warnings.filter((each) => each.includes('npm audit --json` did not answer'))).toHaveLength(1);
    await rm(join(root, '.tidemill'), { recursive: true });
    const answered = await init(true);
    expect(answered.gates.at(-1)).toEqual({ name: 'audit', kind: 'audit', run: 'npm audit --json' });
    await init(true);
    expect(asked).toEqual(['npm audit --json', 'npm audit --json']);
  });

  test('keeps the name of a gate that the repository has', async () => {
    await put({ 'package.json': '{"scripts":{"test":"x","check:docs":"y"}}' });
    expect((await protectingGates(root, ['docs'], async () => false)).gates).toEqual([
      { name: 'secrets', kind: 'secrets' },
      { name: 'docs-scan', kind: 'docs' },
    ]);
  });

  test('says what git has to ignore, and what it must not', async () => {
    await put({ ...table['npm with a lock']!.files, '.gitignore': '.*\n', '.env.test': 'A=1\n', '.env': 'SECRET=1\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    await put({ '.env.testing': 'A=1\n' });
    execFileSync('git', ['add', '-f', '.env.testing'], { cwd: root });
    const { include, warnings } = await initProject({ root, target: 'main', agent: AGENT });
    expect(include).toEqual(['.env.test']);
    expect(warnings).toEqual([expect.stringContaining('Add this line to .gitignore: /node_modules/')]);
    await put({ '.gitignore': '.*\n*.yaml\n/node_modules/\n!/.tidemill/\n!/.tidemill/**\n' });
    await rm(join(root, '.tidemill'), { recursive: true });
    expect((await initProject({ root, target: 'main', agent: AGENT })).warnings).toEqual([]);
  });

  test('a cache that is only for us ignores itself: nothing in the repository has to be edited', async () => {
    await put({ 'go.mod': 'module a\n\nrequire example.org/b v1.0.0\n', 'a.go': 'package a\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const { prepare, warnings } = await initProject({ root, target: 'main', agent: AGENT });
    expect(warnings).toEqual([]);
    expect(runs(prepare)).toEqual([expect.stringMatching(/^mkdir -p \.cache\/ .* && GOMODCACHE=.* go mod download$/)]);
    const [first] = prepare[0]!.run.split(' && GOMODCACHE');
    execFileSync('sh', ['-c', `${first} && echo x > .cache/x`], { cwd: root });
    expect(execFileSync('git', ['status', '--porcelain', '--', '.cache'], { cwd: root }).toString()).toBe('');
    await put({ '.gitignore': '.cache\n' });
    await rm(join(root, '.tidemill'), { recursive: true });
    const again = await initProject({ root, target: 'main', agent: AGENT });
    expect(runs(again.prepare)).toEqual([expect.stringMatching(/^GOMODCACHE/)]);
  });

  test('an environment of Python and gems that git does not ignore ignore themselves', async () => {
    await put({ 'requirements.txt': 'pytest\n', 'tests/test_a.py': '', Gemfile: '', '.rspec': '' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const { prepare, warnings } = await initProject({ root, target: 'main', agent: AGENT });
    expect(warnings).toEqual([]);
    const [venv = '', gems = ''] = prepare.map(({ run }) => run.slice(0, run.search(/python3|bundle install/)));
    execFileSync('sh', ['-c', `${venv} ${gems} echo x > .venv/x; echo x > vendor/bundle/x`], { cwd: root });
    expect(execFileSync('git', ['status', '--porcelain', '--', '.venv', 'vendor'], { cwd: root }).toString()).toBe('');
  });

  test('proposes the folders of the product as source, without tests and scripts', async () => {
    await put({ 'src/a.ts': '', 'src/a.test.ts': '', 'scripts/b.ts': '', 'six.py': '', 'node_modules/c/lib/d.js': '' });
    await put({ '.gitignore': 'node_modules\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const { source } = await initProject({ root, target: 'main', agent: AGENT });
    expect(source).toEqual(['six.py', 'src/**']);
  });

  test('says in the file how to install an agent that is not there yet', async () => {
    const result = await initProject({ root, target: 'main', agent: { type: 'codex' }, install: 'npm install x' });
    expect(await readFile(join(root, result.file), 'utf8')).toContain(
      '# The default agent is not installed yet: npm install x\nagents:\n  default:\n    type: codex\n',
    );
    // There is no code yet.
    expect(result.warnings).toEqual([]);
  });

  test('without a command that tests the code, says that no task starts', async () => {
    await put({ 'notes.txt': 'Code without tests\n' });
    const { warnings } = await initProject({ root, target: 'main', agent: AGENT });
    expect(warnings).toEqual([expect.stringContaining('no gate tests a change, so no task starts')]);
  });

  test('never overwrites a config', async () => {
    const mine = 'agents: { default: { type: command, command: [mine] } }\n';
    await put({ '.tidemill/config.yaml': mine });
    expect(await initProject({ root, target: 'main', agent: AGENT })).toMatchObject({ written: false });
    expect(await readFile(join(root, '.tidemill/config.yaml'), 'utf8')).toBe(mine);
  });

  test.each([
    ['./a --b', ['./a', '--b']],
    ['"my agent" \'-x y\' a\\ b', ['my agent', '-x y', 'a b']],
    ['node "C:\\\\x"', ['node', 'C:\\x']],
  ])('splits the agent command %s', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  test('refuses an empty agent command', () => {
    expect(() => splitWords('  ')).toThrow('empty');
  });
});
