import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataFolderEnv, dataFolderOf } from './data-folder.ts';
import { canRun, findProgram } from './program.ts';
import { repositoriesIn, repositoryOf } from './repositories.ts';

let top: string;
const at = (...path: string[]) => join(top, ...path);

beforeAll(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-find-')));
  for (const folder of ['both/one/.git', 'both/two/.git', 'both/none', 'one/.git', 'one/src/deep', 'empty'])
    mkdirSync(at(folder), { recursive: true });
  // A worktree has a file instead of a folder.
  mkdirSync(at('linked'));
  writeFileSync(at('linked', '.git'), 'gitdir: elsewhere\n');
  symlinkSync(at('one'), at('alias'));
});
afterAll(() => rmSync(top, { recursive: true }));

describe('the repositories of a workspace', () => {
  test.each([
    ['the folder itself', ['one'], ['one']],
    ['a folder above', ['one/src/deep'], ['one']],
    ['folders directly inside', ['both'], ['both/one', 'both/two']],
    ['two folders of a workspace', ['both/two', 'one'], ['both/two', 'one']],
    ['the same one twice', ['one', 'one/src', 'alias'], ['one']],
    ['a worktree', ['linked'], ['linked']],
    ['none', ['empty', 'missing'], []],
  ])('are found: %s', (_, folders, found) => {
    expect(repositoriesIn(folders.map((each) => at(each)))).toEqual(found.map((each) => at(each)));
  });

  test('keep the chosen one while it is there', () => {
    expect(repositoryOf(['/a', '/b'], '/b')).toBe('/b');
    expect(repositoryOf(['/a', '/b'], '/gone')).toBe('/a');
    expect(repositoryOf([], '/b')).toBeNull();
  });
});

describe('the tidemill program of the extension', () => {
  const search = (setting: string, files: string[], platform: NodeJS.Platform = 'linux') =>
    findProgram({
      setting,
      root: '/repo',
      env: { PATH: '/usr/bin:/opt/bin' },
      platform,
      canRun: (path) => files.includes(path),
    });

  test('is the one of the setting, and no other when that cannot run', () => {
    expect(search('/own/tidemill', ['/own/tidemill', '/opt/bin/tidemill'])).toBe('/own/tidemill');
    expect(search('bin/tidemill', ['/repo/bin/tidemill'])).toBe('/repo/bin/tidemill');
    expect(search('/own/tidemill', ['/opt/bin/tidemill'])).toBeNull();
  });

  test('is that of the repository, then the one on the PATH', () => {
    expect(search('', ['/repo/node_modules/.bin/tidemill', '/opt/bin/tidemill'])).toBe(
      '/repo/node_modules/.bin/tidemill',
    );
    expect(search(' ', ['/opt/bin/tidemill'])).toBe('/opt/bin/tidemill');
    expect(search('', [])).toBeNull();
  });

  test('must be executable', () => {
    expect(canRun(process.execPath)).toBe(true);
    expect(canRun(at('linked', '.git'))).toBe(false);
  });
});

test('the data folder is that of the command line', () => {
  expect(dataFolderOf('', {})).toBe(join(homedir(), '.tidemill'));
  expect(dataFolderOf('', { TIDEMILL_HOME: '/data' })).toBe('/data');
  expect(dataFolderOf('~/mill', { TIDEMILL_HOME: '/data' })).toBe(join(homedir(), 'mill'));
});

test('a program that is started uses the data folder of the settings, if they name one', () => {
  expect(dataFolderEnv('~/mill')).toEqual({ TIDEMILL_HOME: join(homedir(), 'mill') });
  expect(dataFolderEnv(' ')).toEqual({});
});

test('a settings file of the repository can name neither a program nor a data folder', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'));
  const { properties } = manifest.contributes.configuration;
  for (const name of ['tidemill.program', 'tidemill.dataFolder']) expect(properties[name].scope).toBe('machine');
  const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  const others = Object.keys(properties).filter((name) => name !== 'tidemill.notifications');
  expect(restrictedConfigurations.toSorted()).toEqual(others.toSorted());
});
