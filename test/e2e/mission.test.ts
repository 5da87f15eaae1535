import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectStatus } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectHealthy, tasksOf } from '../support/mission/checks.ts';
import { surviveKills } from '../support/mission/killed-mission.ts';
import { landedTasks, makeMission } from '../support/mission/repository.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

const MINUTE = 60_000;

let machine: TidemillHome;
beforeEach(() => {
  machine = new TidemillHome();
});
afterEach(() => machine.close());

describe('a mission whose daemon is killed with kill -9', () => {
  test('leave everything done, nothing twice, and nothing left over', { timeout: 3 * MINUTE }, async () => {
    await surviveKills(machine, { tasks: 4, kills: 3, seed: 18 });
  });
});

describe('agents that lie', () => {
  test('nothing of theirs is merged, and each task says why it stopped', { timeout: 2 * MINUTE }, async () => {
    const lies = ['claims success without a change', 'breaks the tests', 'forges evidence', 'approves itself'];
    const root = await makeMission(machine, {
      tasks: [
        ...lies.map((title) => ({ title: `It ${title}`, accept: ['It works'], pipeline: 'quick' })),
        { title: 'It is reviewed by a liar', accept: ['It works'] },
      ],
    });
    const before = await machine.git(root, 'rev-parse', 'main');
    const up = await machine.run(['up', '--until-idle', '--plain'], root);
    expect(up.code, up.stderr).toBe(1);
    expect(await machine.git(root, 'rev-parse', 'main')).toBe(before);
    expect(await machine.git(root, 'status', '--porcelain')).toBe('');
    const tasks = await tasksOf(machine, root);
    expect(tasks.map(({ stage, blocked }) => [stage, blocked?.reason])).toEqual([
      ['blocked', 'no_changes'],
      ['blocked', 'no_progress'],
      ['blocked', 'no_progress'],
      ['blocked', 'no_transition'],
      ['blocked', 'agent_failed'],
    ]);
    expect(tasks[1]?.blocked?.text).toContain('check');
    expect(tasks[2]?.blocked?.text).toContain('integrity');
    expect(tasks[4]?.blocked?.text).toContain('criterion');
    const status = await machine.run(['status'], root);
    expect(status.stdout).toContain('needs you: 5');
    await expectHealthy(machine, root);
  });
});

describe('agents that misbehave', () => {
  test('one of them that writes outside its worktree changes nothing there', { timeout: MINUTE }, async (context) => {
    const root = await makeMission(machine, { tasks: [{ title: 'Placeholder', pipeline: 'quick' }] });
    const status = await machine.json<ProjectStatus>(['status'], root);
    context.skip(!status.sandbox.active, `there is no sandbox on this machine: ${status.sandbox.text}`);
    await machine.json(['task', 'cancel', '1'], root);
    await machine.json(
      ['task', 'add', 'It writes outside', '--body', `into ${root} and home`, '--pipeline', 'quick'],
      root,
    );
    const up = await machine.run(['up', '--until-idle', '--plain'], root);
    expect(up.code, up.stderr).toBe(0);
    expect(existsSync(join(root, 'planted.txt'))).toBe(false);
    expect(existsSync(join(machine.home, 'planted.txt'))).toBe(false);
    expect(await landedTasks(machine, root)).toEqual([2]);
    const log = await machine.run(['logs', '2'], root);
    expect(log.stdout).toContain('could not write');
  });
});
