import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { until } from '../../../../test/support/until.ts';
import { openDataFolder } from '../config/data-folder.ts';
import { Daemon } from './daemon.ts';
import { claimRepository, type Owner, otherOwner } from './repository-owner.ts';

let repository: TemporaryRepository;
let root: string;
let mark: string;
const homes: string[] = [];
const daemons: Daemon[] = [];
beforeEach(() => {
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  root = repository.root;
  mark = join(root, '.git/tidemill/owner.json');
});
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop({ now: true })));
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  repository.remove();
});

const newHome = () => {
  const home = mkdtempSync(join(tmpdir(), 'tidemill-owner-'));
  homes.push(home);
  return home;
};
const start = async (home = newHome()) => {
  const daemon = await Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 });
  daemons.push(daemon);
  return daemon;
};
const owner = (store: string | null = null, home = newHome()): Owner => ({
  ...openDataFolder({ TIDEMILL_HOME: home }),
  store,
});
const claim = async (own: Owner, takeOver = false, at = root) => (await claimRepository(at, own, takeOver))?.message;
const BELONGS = 'another data folder works on';

describe('a repository that a data folder works on', () => {
  test('is refused to a second one, until that takes it over; then the first one is refused', async () => {
    const one = await start();
    await one.attach(root);
    const other = await start();
    const refused: unknown = await other.attach(root).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppError);
    expect((refused as AppError).message).toContain(`${BELONGS} ${root}: it belongs to the data folder ${homes[0]}.`);
    expect((refused as AppError).hint).toContain('`tidemill up --take-over`');
    await expect(other.attach(root, undefined, true)).rejects.toThrow(`the daemon of the data folder ${homes[0]} runs`);
    await daemons.shift()!.stop({ now: true });
    await expect(other.attach(root)).rejects.toThrow(BELONGS);
    expect((await other.attach(root, undefined, true)).warnings.join()).not.toContain('belongs');
    await expect((await start(homes[0])).attach(root)).rejects.toThrow(`it belongs to the data folder ${homes[1]}.`);
    expect(statSync(mark).mode & 0o077).toBe(0);
  });

  test('that is taken over while its daemon runs is left alone by that daemon, with an alert, until it gets it back', async () => {
    const daemon = await start();
    const { project } = await daemon.attach(root);
    const before = readFileSync(mark, 'utf8');
    // As a data folder on another machine does it, whose daemon cannot be looked for from here.
    writeFileSync(mark, JSON.stringify({ ...JSON.parse(before), folder: '/far/away', id: 'far', machine: 'far' }));
    const alerts = async () => (await daemon.api.inbox({ project: project.id })).map((item) => JSON.stringify(item));
    const isTold = async () => (await alerts()).some((text) => text.includes('/far/away on far'));
    // It looks when there is something to do.
    await until(async () => {
      await daemon.api.addTask({ project: project.id, title: 'wait' });
      return isTold();
    });
    expect(await claim(owner())).toContain(BELONGS);
    await daemon.attach(root, undefined, true);
    await until(async () => !(await isTold()));
  });

  test('is refused to exactly all but one of several that start at once', async () => {
    const owners = Array.from({ length: 6 }, () => owner());
    const said = await Promise.all(owners.map((own) => claim(own)));
    expect(said.filter((text) => text === undefined)).toHaveLength(1);
    expect(said.filter((text) => text?.includes(BELONGS))).toHaveLength(5);
  });
});

describe('the mark of a data folder', () => {
  test('gives the repository free when the data folder was deleted, and follows one that was moved', async () => {
    const one = owner();
    expect(await claim(one)).toBeUndefined();
    const moved = `${one.path}-moved`;
    homes.push(moved);
    renameSync(one.path, moved);
    expect(await claim(owner(null, moved))).toBeUndefined();
    expect(JSON.parse(readFileSync(mark, 'utf8'))).toMatchObject({ folder: moved, machine: hostname() });
    rmSync(moved, { recursive: true });
    expect(await claim(owner())).toBeUndefined();
  });

  test('does not count for a copy of the data folder while the first one is there', async () => {
    const one = owner();
    await claim(one);
    const copy = newHome();
    cpSync(one.path, copy, { recursive: true });
    expect(await claim(owner(null, copy))).toContain(BELONGS);
    expect(await claim(one)).toBeUndefined();
  });

  test('does not count in a copy of the repository, and moves with a repository', async () => {
    const [one, other] = [owner(), owner()];
    await claim(one);
    const copy = join(repository.folder, 'copy');
    cpSync(root, copy, { recursive: true });
    expect(await claim(other, false, copy)).toBeUndefined();
    expect(await claim(one, false, copy)).toContain(BELONGS);
    expect(await claim(one)).toBeUndefined();
    const moved = join(repository.folder, 'moved');
    renameSync(copy, moved);
    expect(await claim(one, false, moved)).toContain(BELONGS);
    expect(await claim(other, false, moved)).toBeUndefined();
  });

  test.each(['', '{"folder":', '{"folder":1}'])(
    'is named when it is damaged (%j), and can be replaced',
    async (text) => {
      const own = owner();
      await claim(own);
      writeFileSync(mark, text);
      expect(await claim(own)).toContain(`${mark} cannot be read`);
      expect(await claim(own, true)).toBeUndefined();
      expect(await claim(own)).toBeUndefined();
    },
  );

  test('is found from a worktree of the repository', async () => {
    await claim(owner());
    const worktree = join(repository.folder, 'linked');
    repository.git('worktree', 'add', '-q', worktree);
    expect((await otherOwner(worktree, owner()))?.message).toContain(BELONGS);
  });

  test('admits every data folder with the same shared store, and no other store', async () => {
    expect(await claim(owner('one'))).toBeUndefined();
    expect(await claim(owner('one'))).toBeUndefined();
    expect(await claim(owner('two'))).toContain('it belongs to a shared Postgres');
    const own = owner();
    expect(await claim(own)).toContain('it belongs to a shared Postgres');
    expect(await claim(own, true)).toBeUndefined();
    // The same data folder has moved its tasks to a shared store.
    expect(await claim({ ...own, store: 'three' })).toBeUndefined();
    expect(await claim(owner('three'))).toBeUndefined();
  });
});
