import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskSummary } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { CHEATS } from '../../support/hostile/cheats.ts';
import { failuresOfClone, makeHostileRepository } from '../../support/hostile/repository.ts';
import { TidemillHome } from '../../support/tidemill-home.ts';

const MINUTE = 60_000;
const TASKS = 105;
const PIPELINES = ['quick', 'feature', 'bug'];

/** Every third task is honest; the others cheat in turn, through all built-in pipelines. */
const tasks = Array.from({ length: TASKS }, (_, index) => {
  const cheat = index % 3 === 0 ? CHEATS[0]! : CHEATS[index % CHEATS.length]!;
  return { title: cheat.title, pipeline: cheat.pipeline ?? PIPELINES[index % 3]!, accept: ['It is done'] };
});

test('a fresh clone passes its gates after every landing, whatever the agents try', {
  timeout: 30 * MINUTE,
}, async () => {
  const machine = new TidemillHome();
  try {
    const root = await makeHostileRepository(machine, CHEATS);
    const file = join(machine.folder, 'tasks.yaml');
    writeFileSync(file, JSON.stringify(tasks));
    await machine.run(['task', 'add', '--from', file], root);
    const { code, stdout, stderr } = await machine.run(['up', '--until-idle', '--plain'], root);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    const all = await machine.json<TaskSummary[]>(['task', 'list'], root);
    const landed = all.filter(({ stage }) => stage === 'done');
    const commits = (await machine.git(root, 'rev-list', '--reverse', 'main')).split('\n');
    expect(commits.length).toBe(1 + landed.length);
    const honest = (list: { title: string }[]) => list.filter(({ title }) => title === 'honest-work').length;
    expect(honest(landed)).toBe(honest(tasks));
    for (const commit of commits) expect(await failuresOfClone(machine, root, commit), commit).toEqual([]);
    console.log(`${all.length} tasks, ${landed.length} landed, ${commits.length} clones passed their gates`);
  } finally {
    await machine.close();
  }
});
