import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxItem } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const AGENT = `#!/bin/sh
name=$(sed -n 's/.*"title":"Write \\([a-z]*\\)".*/\\1/p')
echo "$name" > "$name.txt"
echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote the file"}'
`;
const config = (push: string) => `target: main
workers: 2
pipeline: quick
push: ${push}
agents:
  default: { type: command, command: [sh, agent.sh], free: true }
gates:
  - { name: test, run: "test -f agent.sh" }
`;
/** Refuses main, and branches whose name has the word. */
const HOOK = `#!/bin/sh
[ "$(git config user.allowed)" = yes ] && exit 0
while read -r _ _ ref; do
  case "$ref" in refs/heads/main|*forbidden*) echo "protected: $ref needs a pull request" >&2; exit 1;; esac
done
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let remote: string;
let clone: string;

beforeAll(async () => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ 'agent.sh': AGENT, '.tidemill/config.yaml': config('target') });
  root = repository.root;
  remote = join(repository.folder, 'shared.git');
  clone = join(repository.folder, 'clone');
  await machine.git(repository.folder, 'clone', '-q', '--bare', root, remote);
  writeFileSync(join(remote, 'hooks/pre-receive'), HOOK);
  chmodSync(join(remote, 'hooks/pre-receive'), 0o755);
  repository.git('remote', 'add', 'origin', remote);
  await machine.git(repository.folder, 'clone', '-q', remote, clone);
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

const mainAt = (folder: string) => machine.git(folder, 'rev-parse', 'main');
const inbox = (): Promise<InboxItem[]> => machine.ask(root, (api, project) => api.inbox({ project }));

test('on a protected branch nothing lands, and the terminal and the inbox say what to do', {
  timeout: 3 * MINUTE,
}, async () => {
  const before = await mainAt(remote);
  await machine.run(['task', 'add', 'Write apples'], root);
  const { code, stdout } = await machine.run(['up', '--until-idle'], root);
  expect(code).toBe(1);
  expect(stdout).toMatch(/One thing needs you.*\n +push refused: origin\/main refuses the push/);
  expect(await mainAt(remote)).toBe(before);
  expect(await mainAt(root)).toBe(before);
  const [alert] = await inbox();
  expect(alert).toMatchObject({ kind: 'alert', severity: 'error', title: 'push refused' });
  // The advice comes after what the remote said, so the list must not cut it off.
  const words = (await machine.run(['inbox'], root)).stdout.replace(/\s+/g, ' ');
  expect(words).toContain('protected: refs/heads/main needs a pull request');
  expect(words).toContain('set `push: branch` to push each task');
});

test('with push: branch each task’s branch is pushed, others merge it, and the task is done', {
  timeout: 5 * MINUTE,
}, async () => {
  repository.write({ '.tidemill/config.yaml': config('branch') });
  repository.git('commit', '-q', '-a', '-m', 'Push branches');
  await machine.git(remote, 'config', 'user.allowed', 'yes');
  repository.git('push', '-q', 'origin', 'main');
  await machine.git(remote, 'config', 'user.allowed', 'no');
  const before = await mainAt(remote);
  const task = (number: number) =>
    machine.ask(root, async (api, project) => (await api.task({ project, task: number })).task);
  const daemon = await machine.up(root);
  await machine.ask(root, (api, project) => api.addTask({ project, title: 'Write forbidden' }));

  const { body } = await machine.event('merge.offered');
  const branch = body.type === 'merge.offered' ? body.name.replace('origin/', '') : '';
  expect(await machine.git(remote, 'show', `${branch}:apples.txt`)).toBe('apples');
  expect(await machine.git(remote, 'log', '-1', '--format=%(trailers:key=Task,valueonly)', branch)).toContain('#1');
  expect(await mainAt(remote)).toBe(before);
  expect(await mainAt(root)).toBe(before);
  await until(async () => !(await inbox()).some(({ title }) => title === 'push refused'));
  const waits = (number: number, text: string) =>
    until(async () => (await task(number)).waiting?.includes(text) ?? false);
  await waits(1, 'when its pull request is merged');
  expect((await task(1)).stage).toBe('merge');
  // A branch that the remote refuses waits and says why.
  await waits(2, 'could not be pushed');
  expect((await task(2)).waiting).toMatch(/protected: \S*forbidden needs a pull request/);

  // A colleague squashes it into one commit of their own. After a start the target is looked at at once.
  await machine.git(remote, 'config', 'user.allowed', 'yes');
  await machine.git(clone, 'pull', '-q', 'origin', 'main');
  await machine.git(clone, 'fetch', '-q', 'origin', branch);
  await machine.git(clone, 'merge', '-q', '--squash', 'FETCH_HEAD');
  await machine.git(clone, 'commit', '-q', '-m', 'Apples (#1)');
  await machine.git(clone, 'push', '-q', 'origin', 'main');
  await machine.git(remote, 'config', 'user.allowed', 'no');
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  await machine.up(root);
  await machine.event('merge.landed');
  expect(await mainAt(root)).toBe(await mainAt(remote));

  expect([(await task(1)).stage, (await task(2)).stage]).toEqual(['done', 'merge']);
});
