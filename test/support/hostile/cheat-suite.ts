import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskSummary } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TidemillHome } from '../tidemill-home.ts';
import { failuresOfClone, type Mischief, makeHostileRepository } from './repository.ts';

const MINUTE = 60_000;

/** One daemon, one repository, a task per cheat; then each is checked. */
export function describeCheats(name: string, cheats: Mischief[]): void {
  describe(name, () => {
    let machine: TidemillHome;
    let root: string;
    const tasks = new Map<string, TaskSummary>();

    beforeAll(async () => {
      machine = new TidemillHome();
      root = await makeHostileRepository(machine, cheats);
      const list = cheats.map(({ title, pipeline = 'quick' }) => ({ title, pipeline, accept: ['It is done'] }));
      await machine.ask(root, (api, project) => api.importTasks({ project, tasks: list }));
      const { code, stdout, stderr } = await machine.run(['up', '--until-idle', '--plain'], root);
      // 1: what did not land is left to a person.
      expect([0, 1], `${stdout}\n${stderr}`).toContain(code);
      const all = await machine.ask(root, (api, project) => api.tasks({ project }));
      for (const task of all) tasks.set(task.title, task);
    }, 5 * MINUTE);
    afterAll(() => machine.close());

    test.each(cheats)('$title', ({ title, lands }) => {
      const task = tasks.get(title);
      expect(task, title).toBeDefined();
      if (lands !== 'either') expect(task?.stage === 'done', `${title} is in ${task?.stage}`).toBe(lands);
    });

    test('a fresh clone of every commit that landed passes its own gates', async () => {
      const commits = (await machine.git(root, 'rev-list', 'main')).split('\n');
      expect(commits.length).toBe(1 + [...tasks.values()].filter(({ stage }) => stage === 'done').length);
      for (const commit of commits) expect(await failuresOfClone(machine, root, commit), commit).toEqual([]);
    });

    test('the dependencies of the tasks were installed once', () => {
      expect(readFileSync(join(machine.data, 'package-cache', 'installs'), 'utf8')).toBe('run\n');
    });
  });
}
