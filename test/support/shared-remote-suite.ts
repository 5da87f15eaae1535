import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';

const AGENT = `#!/bin/sh
number=$(sed -n 's/.*"title":"Write \\([0-9]*\\)".*/\\1/p')
echo "$number" > "work-$number.txt"
echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote the file"}'
`;
const CONFIG = `target: main
workers: 4
pipeline: quick
agents:
  default: { type: command, command: [sh, agent.sh], free: true }
gates:
  - { name: test, run: "test -f agent.sh" }
`;

/** So many tasks land while another person pushes to the same remote. */
export function describeSharedRemote(count: number): void {
  describe('a remote to which somebody else pushes at random', { timeout: 300_000 }, () => {
    let machine: TidemillHome;
    let repository: TemporaryRepository;
    let root: string;
    let remote: string;
    let clone: string;

    beforeAll(async () => {
      machine = new TidemillHome();
      repository = new TemporaryRepository({ 'agent.sh': AGENT, '.tidemill/config.yaml': CONFIG });
      root = repository.root;
      remote = join(repository.folder, 'shared.git');
      clone = join(repository.folder, 'clone');
      await machine.git(repository.folder, 'clone', '-q', '--bare', root, remote);
      // Every update of the remote is recorded, so that a forced one would be seen.
      await machine.git(remote, 'config', 'core.logAllRefUpdates', 'true');
      await machine.git(remote, 'config', 'gc.auto', '0');
      repository.git('remote', 'add', 'origin', remote);
      repository.git('fetch', '-q', 'origin');
      repository.git('branch', '-q', '-u', 'origin/main', 'main');
      await machine.git(repository.folder, 'clone', '-q', remote, clone);
    });
    afterAll(async () => {
      await machine.close();
      repository.remove();
    });

    /** Another person commits and pushes, as often as it takes. Returns the commits that they made. */
    async function pushAtRandom(isOver: () => boolean): Promise<string[]> {
      const subjects: string[] = [];
      while (!isOver() && subjects.length < 40) {
        const subject = `Theirs ${subjects.length + 1}`;
        await machine.git(clone, 'commit', '-q', '--allow-empty', '-m', subject);
        subjects.push(subject);
        for (;;) {
          const { code } = await machine.program('git', ['push', '-q', 'origin', 'HEAD:main'], clone);
          if (code === 0) break;
          await machine.git(clone, 'pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main');
        }
        await delay(Math.random() * 400);
      }
      return subjects;
    }

    test(`while ${count} tasks land: nothing is lost, nothing is forced, every push arrives`, async () => {
      const titles = Array.from({ length: count }, (_, i) => `Write ${i + 1}`);
      const list = titles.map((title) => ({ title }));
      await machine.ask(root, (api, project) => api.importTasks({ project, tasks: list }));
      let isOver = false;
      const pushing = pushAtRandom(() => isOver);
      const up = await machine.run(['up', '--until-idle'], root);
      isOver = true;
      const theirs = await pushing;
      expect(up.code, up.stderr).toBe(0);
      const tasks = await machine.ask(root, (api, project) => api.tasks({ project }));
      expect(tasks.map(({ stage }) => stage)).toEqual(Array(count).fill('done'));

      const subjects = (await machine.git(remote, 'log', '--format=%s', 'main')).split('\n');
      for (const subject of [...theirs, ...titles])
        expect(
          subjects.filter((each) => each === subject),
          subject,
        ).toHaveLength(1);
      const updates = readFileSync(join(remote, 'logs/refs/heads/main'), 'utf8').trim().split('\n');
      for (const [before = '', after = ''] of updates.map((line) => line.split(' ')))
        if (!/^0+$/.test(before)) await machine.git(remote, 'merge-base', '--is-ancestor', before, after);
      await machine.git(root, 'fetch', '-q', 'origin');
      await machine.git(root, 'merge-base', '--is-ancestor', 'main', 'origin/main');
      expect(await machine.git(root, 'status', '--porcelain')).toBe('');
      expect(theirs.length).toBeGreaterThan(3);
    });

    test('work that landed while the remote was away is pushed before `up --until-idle` ends', async () => {
      const away = `${remote}.away`;
      renameSync(remote, away);
      const last = `Write ${count + 1}`;
      await machine.ask(root, (api, project) => api.addTask({ project, title: last }));
      const up = await machine.up(root, '--until-idle');
      const api = machine.api();
      const [project] = await api.projects({});
      for await (const _ of api.events({ project: project!.id, follow: true, types: ['alert.raised'] })) break;
      renameSync(away, remote);
      await up.ended;
      // The other person may have pushed last, and then a merge commit follows the work.
      const subjects = (await machine.git(remote, 'log', '--format=%s', 'main')).split('\n');
      expect(subjects.filter((subject) => subject === last)).toHaveLength(1);
      expect(await machine.git(remote, 'rev-parse', 'main')).toBe(await machine.git(root, 'rev-parse', 'main'));
    });

    test('landed commits verify, also those of a batch', async () => {
      const commits = (await machine.git(root, 'log', '--format=%H %(trailers:key=Task,valueonly)', 'main')).split(
        '\n',
      );
      const landed = commits.filter((line) => line.includes('#')).map((line) => line.split(' ')[0]!);
      expect(landed).toHaveLength(count + 1);
      for (const commit of landed.slice(0, 4)) {
        const found = await machine.ask(root, (api, project) => api.verifyEvidence({ project, commit }));
        expect(found.ok, JSON.stringify(found.checks)).toBe(true);
      }
    });
  });
}
