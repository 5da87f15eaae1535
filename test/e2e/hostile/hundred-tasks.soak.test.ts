import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskSummary } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { CHEATS } from '../../support/hostile/cheats.ts';
import { BUGS, failuresOfClone, makeHostileRepository, unnoticedBugs } from '../../support/hostile/repository.ts';
import { TidemillHome } from '../../support/tidemill-home.ts';

const MINUTE = 60_000;
const TASKS = 105;
const PIPELINES = ['quick', 'feature', 'bug'];

/** Every third task is honest; the others cheat in turn, through all built-in pipelines. */
const tasks = Array.from({ length: TASKS }, (_, index) => {
  const cheat = index % 3 === 0 ? CHEATS[0]! : CHEATS[index % CHEATS.length]!;
  return { title: cheat.title, pipeline: cheat.pipeline ?? PIPELINES[index % 3]!, accept: ['It is done'] };
});

test('a fresh clone passes its gates after every landing and notices five bugs, whatever the agents try', {
  timeout: 30 * MINUTE,
}, async () => {
  const machine = new TidemillHome();
  try {
    const root = await makeHostileRepository(machine, CHEATS);
    const file = join(machine.folder, 'tasks.yaml');
    writeFileSync(file, JSON.stringify(tasks));
    await machine.run(['task', 'add', '--from', file], root);
    const { code, stdout, stderr } = await machine.run(['up', '--until-idle', '--plain'], root);
    // 1: what did not land is left to a person.
    expect([0, 1], `${stdout}\n${stderr}`).toContain(code);
    const all = await machine.json<TaskSummary[]>(['task', 'list'], root);
    const landed = all.filter(({ stage }) => stage === 'done');
    const commits = (await machine.git(root, 'rev-list', '--reverse', 'main')).split('\n');
    const left = all.filter(({ title, stage }) => title === 'honest-work' && stage !== 'done');
    expect(left.map(({ number, stage, blocked, waiting }) => ({ number, stage, blocked, waiting }))).toEqual([]);
    expect(commits.length).toBe(1 + landed.length);
    for (const commit of commits) {
      expect(await failuresOfClone(machine, root, commit), commit).toEqual([]);
      expect(await unnoticedBugs(machine, commit), commit).toEqual([]);
    }
    const bugs = commits.length * Object.keys(BUGS).length;
    console.log(
      `${all.length} tasks, ${landed.length} landed, ${commits.length} clones passed their gates, ${bugs} bugs noticed`,
    );
  } finally {
    await machine.close();
  }
});
