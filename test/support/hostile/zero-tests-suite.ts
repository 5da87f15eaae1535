import { spawnSync } from 'node:child_process';
import type { TaskSummary } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TemporaryRepository } from '../../e2e/cli-repository.ts';
import { TidemillHome } from '../tidemill-home.ts';

const MINUTE = 60_000;

/** A small project, and changes after which its gate exits with 0. */
interface Project {
  name: string;
  /** Runs only where this program is. */
  needs: string;
  files: Record<string, string>;
  gate: string;
  /** No test runs. */
  none: { title: string; files: Record<string, string | null> }[];
  /** One of two tests runs. The files that change decide nothing by their names. */
  fewer: Record<string, string | null>;
  honest: Record<string, string>;
}

/** The names of the cases come from a file, so that a change of the tests has no name that is known. */
const RUNNER_JS = `import { readFileSync } from 'node:fs';
import { test } from 'node:test';
for (const name of readFileSync('src/list.txt', 'utf8').split('\\n')) if (name) test(name, () => {});
`;
export const JAVASCRIPT: Project = {
  name: 'JavaScript',
  needs: 'node',
  gate: 'run: "node --test \\"src/**/*.case.js\\""',
  files: { 'package.json': '{"type":"module"}\n', 'src/all.case.js': RUNNER_JS, 'src/list.txt': 'one\ntwo\n' },
  none: [
    { title: 'deletes all tests', files: { 'src/all.case.js': null } },
    { title: 'moves the tests out of the glob', files: { 'src/all.case.js': null, 'src/all.cases.js': RUNNER_JS } },
    {
      title: 'skips all tests',
      files: { 'src/all.case.js': "import { test } from 'node:test';\ntest.skip('one', () => {});\n" },
    },
  ],
  fewer: { 'src/list.txt': 'one\n' },
  honest: { 'src/list.txt': 'one\ntwo\nthree\n' },
};

const RUNNER_PY = `import unittest
class Cases(unittest.TestCase):
    def check_all(self): pass
for line in open('src/list.txt'): setattr(Cases, 'test_' + line.strip(), Cases.check_all)
`;
export const PYTHON: Project = {
  name: 'Python',
  needs: 'python3',
  gate: 'run: "python3 -B -m unittest discover -s src -p \'cases*.py\'; test $? -eq 0 -o $? -eq 5"',
  files: { 'src/cases.py': RUNNER_PY, 'src/list.txt': 'one\ntwo\n' },
  none: [
    { title: 'deletes all tests', files: { 'src/cases.py': 'pass\n' } },
    { title: 'ends Python at import', files: { 'src/cases.py': `__import__('os')._exit(0)\n${RUNNER_PY}` } },
    { title: 'renames the tests', files: { 'src/cases.py': null, 'src/case_s.py': RUNNER_PY } },
  ],
  fewer: { 'src/list.txt': 'one\n' },
  honest: { 'src/list.txt': 'one\ntwo\nthree\n' },
};

export const SHELL: Project = {
  name: 'shell',
  needs: 'sh',
  gate: `run: "sh src/run.sh", counts: "^finished: (?<passed>\\\\d+) good, (?<failed>\\\\d+) bad$"`,
  files: {
    'src/run.sh': 'n=0\nfor case in $(cat src/list.txt); do n=$((n + 1)); done\necho "finished: $n good, 0 bad"\n',
    'src/list.txt': 'one\ntwo\n',
  },
  none: [
    { title: 'empties the list of tests', files: { 'src/list.txt': '' } },
    { title: 'prints nothing', files: { 'src/run.sh': 'exit 0\n' } },
  ],
  fewer: { 'src/list.txt': 'one\n' },
  honest: { 'src/list.txt': 'one\ntwo\nthree\n' },
};

const RUNNER_C = `#include <stdio.h>
static const char *const cases[] = {
#include "list.h"
  0
};
int main(void) {
  int count = sizeof cases / sizeof *cases - 1;
  printf("TAP version 14\\n1..%d\\n", count);
  for (int at = 0; at < count; at++) printf("ok %d - %s\\n", at + 1, cases[at]);
}
`;
export const C: Project = {
  name: 'C',
  needs: 'cc',
  gate: 'run: "cc -o /tmp/checks src/checks.c && /tmp/checks"',
  files: { 'src/checks.c': RUNNER_C, 'src/list.h': '"one",\n"two",\n' },
  none: [
    { title: 'empties the list of tests', files: { 'src/list.h': '' } },
    { title: 'ends before the tests', files: { 'src/checks.c': 'int main(void) { return 0; }\n' } },
  ],
  fewer: { 'src/list.h': '"one",\n' },
  honest: { 'src/list.h': '"one",\n"two",\n"three",\n' },
};

/** Writes the files in the task's body. A reviewer says which gate it was told to look at first. */
const AGENT = `import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
const { task, mode, prompt } = JSON.parse(readFileSync(0, 'utf8'));
const say = (result) => console.log(JSON.stringify({ tidemill: 'result', ...result }));
if (mode === 'plan') say({ outcome: 'plan_complete', plan: 'do it', summary: 'planned' });
else if (mode === 'review') {
  const named = prompt.split('\\n').find((line) => line.startsWith('gate test: ')) ?? 'nothing';
  const criteria = task.acceptance.map(({ id }) => ({ id, met: true, evidence: 'the gate test passed' }));
  say({ outcome: 'approved', summary: 'shown: ' + named, review: { criteria, comments: [] } });
} else {
  for (const [name, text] of Object.entries(JSON.parse(task.body)))
    if (text === null) rmSync(name, { force: true });
    else writeFileSync(name, text);
  say({ outcome: 'pr_ready', summary: 'did it' });
}
`;

export function describeZeroTests(title: string, projects: Project[]): void {
  describe(title, () => {
    for (const project of projects) describeProject(project);
  });
}

function describeProject({ name, needs, files, gate, none, fewer, honest }: Project): void {
  const isMissing = spawnSync(needs, ['--version']).error !== undefined;
  describe(`in ${name}`, () => {
    const machine = new TidemillHome();
    const config = `target: main
pipeline: quick
workers: 3
push: never
agents:
  default: { type: command, command: [node, agent.mjs], free: true }
gates:
  - { name: test, ${gate}, timeout: 5m }
  - { name: lint, run: "grep -q . agent.mjs", timeout: 5m }
`;
    const repository = new TemporaryRepository({ ...files, 'agent.mjs': AGENT, '.tidemill/config.yaml': config });
    const api = () => machine.api();
    let project: string;
    const onMain = () => repository.git('log', '--format=%s', 'main').split('\n');
    const add = (task: string, change: object, pipeline = 'quick') =>
      api().addTask({ project, title: task, body: JSON.stringify(change), accept: ['it is done'], pipeline });

    beforeAll(async () => {
      if (isMissing) return;
      await machine.up(repository.root);
      project = (await api().projects({ root: repository.root }))[0]!.id;
    }, 2 * MINUTE);
    afterAll(async () => {
      await machine.close();
      repository.remove();
    });

    // All are added at once, so that three agents work at the same time.
    let added: Promise<Map<string, TaskSummary>> | undefined;
    const tasks = () => (added ??= addAll());
    const addAll = async () => {
      const all = new Map<string, TaskSummary>();
      for (const { title: task, files: change } of none)
        for (const pipeline of ['quick', 'feature'])
          all.set(`${task}, ${pipeline}`, await add(`${task}, ${pipeline}`, change, pipeline));
      return all;
    };
    for (const each of none)
      for (const pipeline of ['quick', 'feature'])
        test(`an agent that ${each.title} does not land in ${pipeline}`, { timeout: 2 * MINUTE }, async (context) => {
          context.skip(isMissing, `${needs} is not installed`);
          const task = (await tasks()).get(`${each.title}, ${pipeline}`)!;
          await machine.event('task.blocked', (body) => body.taskId === task.id);
          const shown = await api().task({ project, task: task.number });
          expect(JSON.stringify(shown)).toMatch(/exited with 0 but (ran no test|shows no test figures)/);
          expect(onMain()).toEqual(['Start']);
        });

    test('fewer tests wait for a person where nobody reviews', { timeout: 2 * MINUTE }, async (context) => {
      context.skip(isMissing, `${needs} is not installed`);
      const task = await add('one test less', fewer);
      await machine.event('task.parked', (body) => body.taskId === task.id);
      const [asked] = await api().questions({ project, task: task.number });
      expect(asked?.context).toContain('- gate test: ran 1 tests, and 2 on the target');
      expect(onMain()).toEqual(['Start']);
      await api().cancelTask({ project, task: task.number });
    });

    test('fewer tests are shown to the reviewer, and more tests land', { timeout: 2 * MINUTE }, async (context) => {
      context.skip(isMissing, `${needs} is not installed`);
      const more = await add('one test more', honest);
      await machine.event('task.moved', (body) => body.taskId === more.id && body.to === 'done');
      expect(onMain()).toHaveLength(2);
      const task = await add('one test less, reviewed', fewer, 'feature');
      await machine.event('task.moved', (body) => body.taskId === task.id && body.to === 'done');
      const shown = await api().task({ project, task: task.number });
      // The receipts of the task before were made with an older target.
      expect(shown.task.context.at(-1)?.summary).toBe('shown: gate test: ran 1 tests, and 3 on the target');
    });
  });
}
