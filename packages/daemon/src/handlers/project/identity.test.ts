import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUIET_CONFIG } from '../../../../../test/e2e/cli-repository.ts';
import { createIds, systemClock } from '../../clock.ts';
import type { Store } from '../../ports.ts';
import { compareLogWithProjection } from '../../store/compare.ts';
import { openStore } from '../../store/open.ts';
import { saveProject } from './project.ts';

let folder: string;
let store: Store;
const at = (name: string) => join(folder, name);
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'pipe' }).toString();
const save = async (name: string) => (await saveProject({ store }, at(name))).project;

function repository(name: string, text = name): void {
  git(folder, 'init', '-q', '-b', 'main', at(name));
  mkdirSync(join(at(name), '.tidemill'));
  writeFileSync(join(at(name), '.tidemill/config.yaml'), QUIET_CONFIG);
  writeFileSync(join(at(name), 'file.txt'), text);
  git(at(name), 'add', '-A');
  git(at(name), 'commit', '-qm', 'Start');
  git(at(name), 'commit', '-qm', 'Go on', '--allow-empty');
}

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-identity-')));
  store = await openStore({ url: at('store.db'), clock: systemClock, ids: createIds(systemClock) });
  repository('one');
});
afterEach(async () => {
  expect(await compareLogWithProjection(store)).toEqual([]);
  await store.close();
  rmSync(folder, { recursive: true });
});

describe('a project', () => {
  test('is the same after its repository was moved; no tracked file is written', async () => {
    const before = await save('one');
    renameSync(at('one'), at('two'));
    const after = await save('two');
    expect(after).toMatchObject({ id: before.id, root: at('two') });
    expect(git(at('two'), 'status', '--porcelain')).toBe('');
    expect(await store.projects()).toHaveLength(1);
    const moved = await store.events({ types: ['project.moved'], limit: 9 });
    expect(moved.map(({ body }) => body)).toMatchObject([{ root: at('two') }]);
    expect(await save('two')).toEqual(after);
  });

  test.each([
    ['a clone', () => git(folder, 'clone', '-q', at('one'), at('two'))],
    ['a shallow clone', () => git(folder, 'clone', '-q', '--depth=1', `file://${at('one')}`, at('two'))],
    ['a copy', () => cpSync(at('one'), at('two'), { recursive: true })],
    ['a worktree', () => git(at('one'), 'worktree', 'add', '-q', at('two'))],
  ])('is another one in %s', async (_, make) => {
    const one = await save('one');
    make();
    const two = await save('two');
    expect(two.id).not.toBe(one.id);
    expect(await save('one')).toEqual(one);
    expect(await save('two')).toEqual(two);
    expect((await store.projects()).map(({ root }) => root).sort()).toEqual([at('one'), at('two')]);
  });

  test('is not confused with a new repository at its old location', async () => {
    const one = await save('one');
    renameSync(at('one'), at('two'));
    repository('one', 'another');
    const another = await save('one');
    expect(another.id).not.toBe(one.id);
    expect(another.root).toBe(at('one'));
    expect(await save('two')).toMatchObject({ id: one.id, root: at('two') });
    expect(await save('one')).toEqual(another);
  });

  test('continues in a clone at its old location', async () => {
    const one = await save('one');
    renameSync(at('one'), at('away'));
    git(folder, 'clone', '-q', at('away'), at('one'));
    expect((await save('one')).id).toBe(one.id);
  });

  test('has the same id in another store', async () => {
    const one = await save('one');
    renameSync(at('one'), at('two'));
    const other = await openStore({ url: 'memory:', clock: systemClock, ids: createIds(systemClock) });
    expect((await saveProject({ store: other }, at('two'))).project.id).toBe(one.id);
    await other.close();
  });
});
