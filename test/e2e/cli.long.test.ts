import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectStatus, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
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

describe('init, with agents and in other places', () => {
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
    expect(config()).toContain('  default:\n    type: acp\n    preset: gemini\n');
    await fresh('--agent', 'opencode');
    expect(config()).toContain('  default:\n    type: acp\n    preset: opencode\n');
    await fresh('--agent', './agents/mine.sh "two words"');
    expect(parse(config()).agents.default.command).toEqual(['./agents/mine.sh', 'two words']);
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
    const found = [
      { name: 'test', run: 'npm test' },
      { name: 'secrets', kind: 'secrets' },
      { name: 'docs', kind: 'docs' },
    ];
    expect({ written, gates }).toMatchObject({ written: true, gates: found });
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
});

describe('tasks without a daemon', () => {
  beforeEach(() => configure());

  test('can be added 10,000 at once', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `- { key: k${index}, title: Task ${index} }`);
    writeFileSync(join(root, 'many.yaml'), lines.join('\n'));
    expect(await machine.json(['task', 'add', '--from', 'many.yaml'], root)).toMatchObject({ created: 10_000 });
    expect(await machine.json<TaskSummary[]>(['task', 'list'], root)).toHaveLength(10_000);
  });
});
