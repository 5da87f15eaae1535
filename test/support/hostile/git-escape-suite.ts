import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainText, type TaskSummary } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TidemillHome } from '../tidemill-home.ts';
import { armed, gitEscapes } from './git-escapes.ts';
import { makeHostileRepository } from './repository.ts';

const MINUTE = 60_000;

/** One daemon, one repository, a task per escape; then each is checked. Without titles, all escapes. */
export function describeGitEscapes(name: string, titles?: string[]): void {
  describe(name, () => {
    const machine = new TidemillHome();
    /** Outside of everything an agent can reach. An agent that creates it has escaped. */
    const canary = join(machine.folder, 'canary');
    const escapes = gitEscapes(canary).filter(({ title }) => titles === undefined || titles.includes(title));
    let root: string;
    const tasks = new Map<string, TaskSummary>();
    const shown = (task: number) => machine.ask(root, (api, project) => api.task({ project, task }));

    beforeAll(async () => {
      root = await makeHostileRepository(
        machine,
        escapes.map(({ title, does }) => ({ title, does: armed(canary) + does })),
      );
      const lib = join(machine.folder, 'lib');
      await mkdir(lib);
      await machine.git(lib, 'init', '-q');
      await machine.git(lib, 'commit', '-q', '--allow-empty', '-m', 'lib');
      const link = await machine.git(lib, 'rev-parse', 'HEAD');
      await writeFile(join(root, '.gitmodules'), `[submodule "vendor/lib"]\n\tpath = vendor/lib\n\turl = ${lib}\n`);
      await writeFile(join(root, 'deps.txt'), 'deps\n');
      await machine.git(root, 'update-index', '--add', '--cacheinfo', `160000,${link.trim()},vendor/lib`);
      await machine.git(root, 'add', '.gitmodules', 'deps.txt');
      await machine.git(root, 'commit', '-q', '-m', 'A submodule');
      await mkdir(join(root, 'vendor/lib'), { recursive: true });
      const list = escapes.map(({ title }) => ({ title, accept: ['It is done'] }));
      await machine.ask(root, (api, project) => api.importTasks({ project, tasks: list }));
      const { code, stdout, stderr } = await machine.run(['up', '--until-idle', '--plain'], root);
      // 1: what did not land is left to a person.
      expect([0, 1], `${stdout}\n${stderr}`).toContain(code);
      const all = await machine.ask(root, (api, project) => api.tasks({ project }));
      for (const task of all) tasks.set(task.title, task);
    }, 5 * MINUTE);
    afterAll(() => machine.close());

    test('run nothing outside the sandbox', () => expect(existsSync(canary)).toBe(false));

    test.each(escapes)('$title', async ({ title, lands }) => {
      const task = tasks.get(title)!;
      expect(task, title).toBeDefined();
      if ((task.stage === 'done') === lands) return;
      const { runs } = await shown(task.number);
      const ends = runs.map(({ outcome, failure, summary }) => `${outcome} ${failure ?? ''}: ${summary}`);
      expect.fail(`${title} is in ${task.stage}: ${ends.join('; ')}`);
    });

    test('land no link to a repository, and no settings', async () => {
      const entries = (await machine.git(root, 'ls-tree', '-r', '-z', 'main')).split('\0');
      const links = entries.filter((entry) => entry.startsWith('160000'));
      expect(links.map((entry) => entry.split('\t')[1])).toEqual(['vendor/lib']);
      expect(
        entries.filter((entry) => /\.claude\/settings|\.mcp\.json|\.vscode|\.codex|\.gitconfig/.test(entry)),
      ).toEqual([]);
      expect(await machine.git(root, 'status', '--porcelain')).toBe('');
    });

    test('leave landed work that can be read anywhere', async () => {
      const log = await machine.git(root, 'log', '--format=%B', 'main');
      expect(plainText(log)).toBe(log);
      expect(log).toContain('\nred\n');
    });

    test('unusual files are recorded with a note, in one run', async () => {
      const { runs } = await shown(tasks.get('git-in-capitals')!.number);
      expect(runs).toHaveLength(1);
      const committed = JSON.stringify(await machine.events(root, ['work.committed']));
      expect(committed).toContain('.GIT/config has a name that git reserves');
      expect(committed).toContain('deps.txt is a named pipe, which git cannot store');
    });
  });
}
