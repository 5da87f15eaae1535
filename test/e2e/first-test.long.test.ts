import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const CONFIG = '.tidemill/config.yaml';

/** Forgets the test until it is told that none ran. */
const AGENT = `import { readFileSync, writeFileSync } from 'node:fs';
const { mode, prompt } = JSON.parse(readFileSync(0, 'utf8'));
const end = (result) => console.log(JSON.stringify({ tidemill: 'result', summary: 'done', ...result }));
if (mode === 'plan') end({ outcome: 'plan_complete', plan: 'Write it.', planSummary: 'Write it.' });
else {
  writeFileSync('lib/b.mjs', 'export const b = 2;\\n');
  if (prompt.includes('ran no test, and no gate ran one on the target'))
    writeFileSync('lib/b.test.mjs', 'import test from "node:test";\\nimport { b } from "./b.mjs";\\ntest("b", (t) => t.assert.equal(b, 2));\\n');
  end({ outcome: 'pr_ready' });
}
`;
const FILES = {
  'package.json': '{"type":"module","scripts":{"test":"node --test"}}',
  'agent.mjs': AGENT,
  'lib/a.mjs': 'export const a = 1;\n',
};

let machine: TidemillHome;
const repositories: TemporaryRepository[] = [];
beforeAll(() => {
  machine = new TidemillHome({ USER: 'ada' });
});
afterAll(async () => {
  await machine.close();
  for (const repository of repositories) repository.remove();
});

/** `init`, one task and `up --until-idle` in a repository whose gate finds no test. */
async function walk(settings = '') {
  const repository = new TemporaryRepository(FILES);
  repositories.push(repository);
  const { root } = repository;
  await machine.run(['init', '--agent', 'node agent.mjs'], root);
  const written = readFileSync(join(root, CONFIG), 'utf8').replace(/^(pipeline|untested):.*$/gm, '');
  repository.write({ [CONFIG]: `${written}pipeline: quick\n${settings}` });
  repository.git('add', '-A');
  repository.git('commit', '-qm', 'Set up Tidemill');
  await machine.run(['task', 'add', 'Add b', '--accept', 'There is b'], root);
  const up = await machine.run(['up', '--until-idle', '--plain'], root);
  const { task } = await machine.ask(root, (api, project) => api.task({ project, task: '1' }));
  return { up, task, hasTest: existsSync(join(root, 'lib/b.test.mjs')), hasWork: existsSync(join(root, 'lib/b.mjs')) };
}

test('where no gate runs a test, the first change goes back until it has one', { timeout: 3 * MINUTE }, async () => {
  const { up, task, hasTest } = await walk();
  expect(task.stage, up.stdout + up.stderr).toBe('done');
  expect(hasTest).toBe(true);
});

test('where a person says that there are no tests, a change lands without one', { timeout: 3 * MINUTE }, async () => {
  const { up, task, hasTest, hasWork } = await walk('untested: true\n');
  expect(task.stage, up.stdout + up.stderr).toBe('done');
  expect([hasWork, hasTest]).toEqual([true, false]);
});
