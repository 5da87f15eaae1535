import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Finding, ProjectStatus } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { landedTasks, makeMission } from '../support/mission/repository.ts';
import { strays } from '../support/mission/strays.ts';
import { type StartedDaemon, TidemillHome } from '../support/tidemill-home.ts';

const MINUTE = 60_000;
const TASKS = 12;
const KILLS = 20;

let machine: TidemillHome;
beforeEach(() => {
  machine = new TidemillHome();
});
afterEach(() => machine.close());

/** A small random generator with a seed. */
function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A daemon to kill: while it starts and recovers, while it works, or while it lands. */
async function killMoment(root: string, chance: () => number): Promise<StartedDaemon> {
  const kind = chance();
  const daemon = kind < 0.25 ? machine.startUp(root) : await machine.up(root);
  if (kind < 0.65) await delay(chance() * 900);
  else {
    await Promise.race([machine.nextEvent(['merge.prepared', 'merge.landed']), delay(2000)]);
    await delay(chance() * 50);
  }
  return daemon;
}

async function expectHealthy(root: string): Promise<void> {
  const { code, stdout, stderr } = await machine.run(['doctor', '--json'], root);
  const { findings } = JSON.parse(stdout || '{"findings":[]}') as { findings: Finding[] };
  expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
  expect(code, stderr).toBe(0);
}

async function expectProven(root: string): Promise<void> {
  const commits = (await machine.git(root, 'rev-list', '--grep=^Task: #', 'main')).split('\n');
  for (const commit of commits) {
    const { ok, checks } = await machine.ask(root, (api, project) => api.verifyEvidence({ project, commit }));
    expect(ok, JSON.stringify(checks)).toBe(true);
  }
}

const tasksOf = (root: string) => machine.ask(root, (api, project) => api.tasks({ project }));

describe('twelve tasks, and a daemon that is killed twenty times', () => {
  test('everything is done, nothing twice, nothing left over', { timeout: 4 * MINUTE }, async () => {
    const seed = Number(process.env.MISSION_SEED ?? 7);
    const chance = chances(seed);
    const tasks = Array.from({ length: TASKS }, (_, index) => ({
      key: `t${index + 1}`,
      title: index < 2 ? `Fill slot ${index + 1}, and meet in the pair file` : `Fill slot ${index + 1}`,
      accept: ['The file is there'],
      pipeline: index % 4 === 3 ? 'quick' : 'feature',
      after: index >= 8 ? [`t${index - 5}`] : [],
    }));
    const root = await makeMission(machine, { tasks });
    let busyKills = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const daemon = await killMoment(root, chance);
      if ((await landedTasks(machine, root)).length < TASKS) busyKills += 1;
      daemon.child.kill('SIGKILL');
      await daemon.ended;
    }
    const last = await machine.run(['up', '--until-idle', '--plain'], root);
    expect(last.code, `seed ${seed}\n${last.stdout}\n${last.stderr}`).toBe(0);

    const done = await tasksOf(root);
    expect(done.map(({ number, stage, blocked }) => ({ number, stage, blocked }))).toEqual(
      done.map(({ number }) => ({ number, stage: 'done', blocked: null })),
    );
    const landed = await landedTasks(machine, root);
    expect(landed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: TASKS }, (_, index) => index + 1));
    expect(await machine.git(root, 'rev-list', '--count', 'main')).toBe(String(TASKS + 1));
    expect(readFileSync(join(root, 'shared.txt'), 'utf8').match(/^slot \d+: #\d+$/gm)).toHaveLength(TASKS);
    const pair = readFileSync(join(root, 'pair.txt'), 'utf8').split('\n').filter(Boolean);
    expect(pair.toSorted()).toEqual(['first line', 'line of #1', 'line of #2']);

    expect(await machine.git(root, 'status', '--porcelain')).toBe('');
    expect((await machine.git(root, 'worktree', 'list')).split('\n')).toHaveLength(1);
    expect(await machine.git(root, 'branch', '--list', 'task/*')).toBe('');
    expect(strays(machine)).toEqual([]);
    await expectProven(root);
    await expectHealthy(root);
    expect(busyKills, 'the kills must hit a daemon at work').toBeGreaterThan(KILLS / 2);
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
    expect(up.code, up.stderr).toBe(0);
    expect(await machine.git(root, 'rev-parse', 'main')).toBe(before);
    expect(await machine.git(root, 'status', '--porcelain')).toBe('');
    const tasks = await tasksOf(root);
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
    await expectHealthy(root);
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

    const tasks = await tasksOf(root);
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
    await expectProven(root);
    await expectHealthy(root);
  });

  test('one that writes outside its worktree changes nothing there', { timeout: MINUTE }, async (context) => {
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
    await expectHealthy(root);
  });
});
