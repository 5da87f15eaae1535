import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
    expect(line).toMatch(
      /^ {2}No coding agent is installed\. Install claude: \S.*\. A demo works without one: tidemill demo$/,
    );
    expect(more).toEqual([]);
    // No daemon has worked on it yet.
    const early = await machine.run(['doctor'], root);
    expect(early).toMatchObject({ code: 1, stdout: expect.stringMatching(/problem +agents .*agents\.default: \S/) });
    expect(early.stdout).not.toContain('No problems');
    expect(readFileSync(join(root, '.tidemill/config.yaml'), 'utf8')).toMatch(
      /# The default agent is not installed yet: .+\n(?:# .+\n)?agents:\n {2}default:\n {4}type: claude\n/,
    );
    const up = await machine.run(['up', '--until-idle'], root);
    expect(up).toMatchObject({ code: 2, stdout: '' });
    expect(up.stderr).toMatch(/^tidemill: \.tidemill\/config\.yaml: agents\.default: \S.*install.*\n$/);
    const doctor = await machine.run(['doctor'], root);
    expect(doctor.stdout).toMatch(/problem +agents .*agents\.default: \S.*install/);
  });

  test('doctor finds problems where work could not begin: without commits, config or gates', async () => {
    const doctor = async (folder: string) => {
      const { code, stdout } = await machine.run(['doctor'], folder);
      expect(stdout.includes('No problems')).toBe(code === 0);
      return stdout.split('\n').filter((line) => line.startsWith('problem'));
    };
    const empty = join(machine.folder, 'empty');
    mkdirSync(empty);
    expect(await doctor(empty)).toEqual([]);
    await machine.git(empty, 'init', '-q');
    expect(await doctor(empty)).toEqual([expect.stringContaining('has no commits yet')]);
    await machine.git(empty, 'commit', '-q', '--allow-empty', '-m', 'Start');
    expect(await doctor(empty)).toEqual([expect.stringContaining('there is no .tidemill/config.yaml')]);
    mkdirSync(join(empty, '.tidemill'));
    writeFileSync(join(empty, '.tidemill/config.yaml'), 'agents: { default: { type: command, command: ["true"] } }\n');
    expect(await doctor(empty)).toEqual([expect.stringContaining('it has no gates, so nothing checks a change')]);
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
