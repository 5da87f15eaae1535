import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectStatus } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectHealthy, expectProven, tasksOf } from '../support/mission/checks.ts';
import { surviveKills } from '../support/mission/killed-mission.ts';
import { landedTasks, makeMission } from '../support/mission/repository.ts';
import { strays } from '../support/mission/strays.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

const MINUTE = 60_000;

let machine: TidemillHome;
beforeEach(() => {
  machine = new TidemillHome();
});
afterEach(() => machine.close());

describe('twelve tasks, and a daemon that is killed twenty times', () => {
  test('everything is done, nothing twice, nothing left over', { timeout: 4 * MINUTE }, async () => {
    await surviveKills(machine, { tasks: 12, kills: 20, seed: Number(process.env.MISSION_SEED ?? 7) });
  });
});

describe('agents that misbehave', () => {
  test('each gets a clear outcome, nothing is lost, the daemon keeps running', { timeout: 2 * MINUTE }, async () => {
    const behaviours = [
      'exits at once',
      'prints garbage',
      'deletes its worktree',
      'commits by itself',
      'checks out another branch',
      'edits the settings',
    ];
    // Without a sandbox, so that they are able to.
    const root = await makeMission(machine, {
      sandbox: 'off',
      tasks: [
        ...behaviours.map((title) => ({ title: `It ${title}`, pipeline: 'quick' })),
        { key: 'honest', title: 'An honest one', pipeline: 'quick', priority: 4 },
      ],
    });
    await machine.git(root, 'branch', 'a-branch-of-the-person');
    const before = await machine.git(root, 'rev-parse', 'main');
    const daemon = await machine.up(root);
    await machine.idle(root);
    expect(daemon.child.exitCode, daemon.stderr()).toBe(null);

    const tasks = await tasksOf(machine, root);
    const outcome = (title: string) => {
      const task = tasks.find((each) => each.title.includes(title));
      return task?.blocked ? `${task.stage}: ${task.blocked.reason}` : task?.stage;
    };
    expect(Object.fromEntries([...behaviours, 'honest'].map((title) => [title, outcome(title)]))).toEqual({
      'exits at once': 'blocked: agent_failed',
      'prints garbage': 'blocked: agent_failed',
      'deletes its worktree': 'blocked: no_changes',
      'commits by itself': 'done',
      'checks out another branch': 'done',
      'edits the settings': 'blocked: validation',
      honest: 'done',
    });
    expect(tasks.find(({ title }) => title.includes('exits at once'))?.blocked?.text).toContain('code 3');

    expect(await landedTasks(machine, root)).toEqual(expect.arrayContaining([4, 5, 7]));
    expect(await machine.git(root, 'rev-list', '--count', `${before}..main`)).toBe('3');
    expect(await machine.git(root, 'rev-parse', 'a-branch-of-the-person')).toBe(before);
    expect(await machine.git(root, 'status', '--porcelain')).toBe('');
    expect(await machine.git(root, 'branch', '--show-current')).toBe('main');
    expect((await machine.run(['stop'], root)).code).toBe(0);
    await daemon.ended;
    expect(strays(machine)).toEqual([]);
    await expectProven(machine, root);
    await expectHealthy(machine, root);
  });
});

describe('a checkout with unsaved work', () => {
  test('landing waits, says so, and continues after the person has committed', { timeout: MINUTE }, async () => {
    const root = await makeMission(machine, { tasks: [{ title: 'Fill slot 1', pipeline: 'quick' }] });
    writeFileSync(join(root, 'README.md'), '# A project, with a thought of mine\n');
    const daemon = await machine.up(root);
    await machine.event('task.waiting');
    const status = await machine.json<ProjectStatus>(['status'], root);
    expect(status.tasks).toMatchObject({ merge: 1 });
    expect(status.needsYou[0]?.why).toMatch(/README\.md|uncommitted|not committed|unsaved/);
    expect((await machine.run(['status'], root)).stdout).toContain('needs you: 1');
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('a thought of mine');
    expect(await landedTasks(machine, root)).toEqual([]);

    await machine.git(root, 'commit', '-q', '-a', '-m', 'A thought of mine');
    await machine.event('merge.landed');
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('a thought of mine');
    expect(existsSync(join(root, 'out', '1.txt'))).toBe(true);
    expect(await landedTasks(machine, root)).toEqual([1]);
    expect(await machine.git(root, 'rev-list', '--count', 'main')).toBe('3');
    expect((await machine.run(['stop'], root)).code).toBe(0);
    await daemon.ended;
    await expectHealthy(machine, root);
  });
});
