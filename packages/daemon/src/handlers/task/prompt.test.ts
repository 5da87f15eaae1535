import { afterAll, beforeAll, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';

let bed: DaemonBed;
beforeAll(async () => {
  bed = await DaemonBed.open();
});
afterAll(() => bed.close());

test('an agent is told what the related tasks are about and what they changed', async () => {
  const { api, project, repository } = bed;
  const first = { title: 'Add a table', body: 'A table of tides.\n\nDetails.', files: ['src/table.ts'] };
  await api.addTask({ project, ...first });
  await api.addTask({ project, title: 'Print the table', after: [1], files: ['src/print.ts'] });
  await api.addTask({ project, title: 'Sort the table', files: ['src/**'] });
  const one = await bed.claim('agent-1', 'builder');
  repository.git('checkout', '-q', '-b', one.branch);
  repository.write({ 'src/table.ts': 'table\n' });
  repository.git('add', '-A');
  repository.git('commit', '-q', '-m', 'Add it');
  await bed.build(one, repository.git('rev-parse', 'HEAD'));

  const about = (number: number) => `#${number} `;
  const { prompt } = await api.prompt({ project, task: 2, mode: 'implement' });
  expect(prompt).toContain(
    `- ${about(1)}Add a table. This task builds on it; in stage merge.\n  - About: A table of tides.\n  - Done: built\n  - Changed: \`src/table.ts\`\n`,
  );
  expect(prompt).toContain(`- ${about(3)}Sort the table. It declares some of the same files; in stage open.`);
  const { prompt: back } = await api.prompt({ project, task: 1, mode: 'implement' });
  expect(back).toContain(`- ${about(2)}Print the table. It waits for this task`);
  // A landed commit is compared with its parent.
  const merger = await bed.claim('merger', 'merger');
  const commit = repository.git('rev-parse', 'HEAD');
  const base = repository.git('rev-parse', 'main');
  const tree = repository.git('rev-parse', 'HEAD^{tree}');
  await bed.must({ type: 'merge.prepare', ...bed.fence(merger), commit, tree, base });
  repository.git('checkout', '-q', 'main');
  repository.git('merge', '-q', '--ff-only', one.branch);
  await bed.must({ type: 'merge.land', ...bed.fence(merger), commit });
  const { prompt: later } = await api.prompt({ project, task: 2, mode: 'implement' });
  expect(later).toMatch(
    /#1 Add a table\. This task builds on it; landed on main, .*\n.*\n.*\n {2}- Changed: `src\/table\.ts`/,
  );
});
