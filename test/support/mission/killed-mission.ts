import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { StartedDaemon, TidemillHome } from '../tidemill-home.ts';
import { expectHealthy, expectProven, tasksOf } from './checks.ts';
import { landedTasks, makeMission } from './repository.ts';
import { strays } from './strays.ts';

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
async function killMoment(machine: TidemillHome, root: string, chance: () => number): Promise<StartedDaemon> {
  const kind = chance();
  const daemon = kind < 0.25 ? machine.startUp(root) : await machine.up(root);
  if (kind < 0.65) await delay(chance() * 900);
  else {
    await Promise.race([machine.nextEvent(['merge.prepared', 'merge.landed']), delay(2000)]);
    await delay(chance() * 50);
  }
  return daemon;
}

/** Runs a mission whose daemon is killed so often: everything is done, nothing twice, nothing is left over. */
export async function surviveKills(
  machine: TidemillHome,
  { tasks: count, kills, seed }: { tasks: number; kills: number; seed: number },
): Promise<void> {
  const chance = chances(seed);
  const tasks = Array.from({ length: count }, (_, index) => ({
    key: `t${index + 1}`,
    title: index < 2 ? `Fill slot ${index + 1}, and meet in the pair file` : `Fill slot ${index + 1}`,
    accept: ['The file is there'],
    pipeline: index % 4 === 3 ? 'quick' : 'feature',
    after: index >= (2 * count) / 3 ? [`t${index + 1 - Math.floor(count / 2)}`] : [],
  }));
  const root = await makeMission(machine, { tasks });
  let busyKills = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const daemon = await killMoment(machine, root, chance);
    if ((await landedTasks(machine, root)).length < count) busyKills += 1;
    daemon.child.kill('SIGKILL');
    await daemon.ended;
  }
  const last = await machine.run(['up', '--until-idle', '--plain'], root);
  expect(last.code, `seed ${seed}\n${last.stdout}\n${last.stderr}`).toBe(0);

  const done = await tasksOf(machine, root);
  expect(done.map(({ number, stage, blocked }) => ({ number, stage, blocked }))).toEqual(
    done.map(({ number }) => ({ number, stage: 'done', blocked: null })),
  );
  const landed = await landedTasks(machine, root);
  expect(landed.toSorted((a, b) => a - b)).toEqual(tasks.map((_, index) => index + 1));
  expect(await machine.git(root, 'rev-list', '--count', 'main')).toBe(String(count + 1));
  expect(readFileSync(join(root, 'shared.txt'), 'utf8').match(/^slot \d+: #\d+$/gm)).toHaveLength(count);
  const pair = readFileSync(join(root, 'pair.txt'), 'utf8').split('\n').filter(Boolean);
  expect(pair.toSorted()).toEqual(['first line', 'line of #1', 'line of #2']);

  expect(await machine.git(root, 'status', '--porcelain')).toBe('');
  expect((await machine.git(root, 'worktree', 'list')).split('\n')).toHaveLength(1);
  expect(await machine.git(root, 'branch', '--list', 'task/*')).toBe('');
  expect(strays(machine)).toEqual([]);
  await expectProven(machine, root);
  await expectHealthy(machine, root);
  expect(busyKills, 'the kills must hit a daemon at work').toBeGreaterThan(kills / 2);
}
