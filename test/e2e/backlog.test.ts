import type { TrackerItemView } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const CONFIG = `target: main
pipeline: quick
tracker: { type: files, folder: backlog, poll: 1s }
agents:
  default: { type: command, command: [sh, agent.sh], free: true }
gates:
  - { name: test, run: "test -f agent.sh" }
`;
const AGENT = `#!/bin/sh
name=$(sed -n 's/.*"title":"Write \\([a-z]*\\)[^"]*".*/\\1/p' | head -1)
echo "$name" > "$name.txt"
echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote the file"}'
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
beforeAll(async () => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    '.tidemill/config.yaml': CONFIG,
    'agent.sh': AGENT,
    'backlog/apples.md': '---\nstatus: todo\npriority: high\n---\n# Write apples\n\n- [ ] there is a file\n',
    'backlog/pears.md': '---\nblocked_by: [apples]\n---\n# Write pears\n',
    'backlog/later.md': '---\nstatus: draft\n---\n# Write figs\n',
    'backlog/broken.md': '---\nstatus: [\n---\n# Broken\n',
  });
  await machine.up(repository.root);
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

test('files of the backlog become tasks and land; the folder is never written', { timeout: 60_000 }, async () => {
  const items = () => machine.json<TrackerItemView[]>(['tracker', 'items'], repository.root);
  await until(async () => (await items()).length === 2);
  const tasks = () => machine.ask(repository.root, (api, project) => api.tasks({ project }));
  await until(async () => (await tasks()).filter(({ stage }) => stage === 'done').length === 2);
  const apples = (await tasks()).find(({ title }) => title === 'Write apples')!;
  expect(apples).toMatchObject({ priority: 1, number: 1 });
  expect((await tasks()).find(({ title }) => title === 'Write pears')).toMatchObject({ after: [1] });
  expect(repository.git('show', 'main:pears.txt')).toBe('pears');
  expect(repository.git('status', '--porcelain', 'backlog')).toBe('');

  // A person opens an item again by changing its file, and corrects the broken one.
  repository.write({ 'backlog/apples.md': '# Write melons\n', 'backlog/broken.md': '# Write plums\n' });
  await until(async () => (await tasks()).some(({ title }) => title === 'Write melons'));
  await until(async () => (await tasks()).some(({ title }) => title === 'Write plums'));
  const shown = await machine.run(['task', 'show', '1'], repository.root);
  expect(shown.stdout).toContain('from files:backlog#apples by the repository');
});
