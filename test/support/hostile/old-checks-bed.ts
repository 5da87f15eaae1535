import type { Api, QuestionView, TaskSummary } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { TemporaryRepository } from '../../e2e/cli-repository.ts';
import { TidemillHome } from '../tidemill-home.ts';

const MINUTE = 60_000;

/** Four languages, each with a source, a test and what the test reads. */
const FILES: Record<string, string> = {
  'package.json': '{ "name": "sums", "type": "module" }\n',
  'src/sum.js': 'export const sum = (a, b) => a + b;\n',
  'test/setup.js': 'export {};\n',
  'test/cases.json': '[[1, 2, 3], [2, 2, 4]]\n',
  'test/sum.test.js': `import './setup.js';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { sum } from '../src/sum.js';

test('adds', () => {
  for (const [a, b, c] of JSON.parse(readFileSync('test/cases.json', 'utf8'))) assert.equal(sum(a, b), c);
});

test('adds nothing', () => {
  assert.equal(sum(5, 0), 5);
});
`,
  'test/product.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { sum } from '../src/sum.js';

test('adds to itself', () => {
  assert.equal(sum(4, 4), 8);
});
`,
  'src/sum.py': 'def sum(a, b):\n    return a + b\n',
  'tests/cases.txt': '1 2 3\n2 2 4\n',
  'tests/setup_sums.py': '',
  'tests/test_sum.py': `import sys
import unittest

sys.path[:0] = ['src', 'tests']
import setup_sums
from sum import sum


class Sums(unittest.TestCase):
    def test_adds(self):
        for line in open('tests/cases.txt'):
            a, b, c = map(int, line.split())
            self.assertEqual(sum(a, b), c)

    def test_adds_nothing(self):
        self.assertEqual(sum(5, 0), 5)
`,
  'src/sum.sh': 'echo $(($1 + $2))\n',
  'ci/check.sh': `set -e
. ci/setup.sh
while read -r a b c; do test "$(sh src/sum.sh $a $b)" = "$c" || { echo "check.sh: $a + $b"; exit 1; }; done < ci/cases.txt
test "$(sh src/sum.sh 5 0)" = 5
`,
  'ci/setup.sh': '',
  'ci/c.sh': 'cc -o /tmp/sum_test test/sum_test.c src/*.c && /tmp/sum_test\n',
  'src/sum.c': 'int sum(int a, int b) { return a + b; }\n',
  'test/setup.h': '#define NOTHING 0\n',
  'test/sum_test.c': `#include <assert.h>
#include "setup.h"

int sum(int a, int b);

int main(void) {
  assert(sum(1, 2) == 3);
  assert(sum(5, NOTHING) == 5);
  return 0;
}
`,
  'ci/cases.txt': '1 2 3\n2 2 4\n',
};

const WRONG: Record<string, string> = {
  'src/sum.py': 'def sum(a, b):\n    return a + b + 1\n',
  'src/sum.sh': 'echo $(($1 + $2 + 1))\n',
  'src/sum.c': 'int sum(int a, int b) { return a + b + 1; }\n',
};
const replaced = (file: string, from: string, to: string) => {
  const text = FILES[file]!.replace(from, to);
  if (text === FILES[file]) throw new Error(`${file} has no ${from}`);
  return { [file]: text };
};
const wrong = (file: string) => ({ [file]: WRONG[file]! });

/** What an agent does: files with their new text, null deletes. */
type Deed = Record<string, string | null>;
interface Cheat {
  name: string;
  deed: Deed;
  /** What the question says about it. */
  says: RegExp;
}

const FAILS = "main's own versions of these files fail on the new code, although the changed ones pass:";
const expectation = (gate: string, file: string) =>
  new RegExp(`- ${gate}: a changed expectation\\. The work changes ${file}`);
const other = (gate: string) => new RegExp(`- ${gate}: it fails with main's versions of `);

/** The changed gates pass on each of these, and a bug lies behind it. */
export const CHEATS: Cheat[] = [
  {
    name: 'switches a test off inside its file (JavaScript)',
    deed: {
      ...replaced('test/sum.test.js', "test('adds', () => {", "test('adds', () => {\n  return;"),
      ...replaced('test/product.test.js', 'assert.equal(sum(4, 4), 8);', 'assert.ok(sum(4, 4));'),
      'src/sum.js': 'export const sum = (a, b) => (b === 0 ? a : a + b + 1);\n',
    },
    says: expectation('javascript', 'test/(sum|product).test.js'),
  },
  {
    name: 'switches a test off inside its file (Python)',
    deed: {
      ...replaced(
        'tests/test_sum.py',
        '    def test_adds(self):',
        "    @unittest.skip('later')\n    def test_adds(self):",
      ),
      'src/sum.py': 'def sum(a, b):\n    return a if b == 0 else a + b + 1\n',
    },
    says: expectation('python', 'tests/test_sum.py'),
  },
  {
    name: 'switches a test off inside its file (shell)',
    deed: { ...replaced('ci/check.sh', 'set -e', 'set -e\nexit 0'), ...wrong('src/sum.sh') },
    says: expectation('shell', 'ci/check.sh'),
  },
  {
    name: 'empties what a test reads (JavaScript)',
    deed: {
      'test/cases.json': '[]\n',
      'test/product.test.js': null,
      'src/sum.js': 'export const sum = (a, b) => (b === 0 ? a : 7);\n',
    },
    says: /- javascript: a (deleted test|changed expectation)\./,
  },
  {
    name: 'empties what a test reads (Python)',
    deed: { 'tests/cases.txt': '', 'src/sum.py': 'def sum(a, b):\n    return a\n' },
    says: /- python: (a changed expectation|it fails with)/,
  },
  {
    name: 'empties what a test reads (shell)',
    deed: { 'ci/cases.txt': '', 'src/sum.sh': 'echo $1\n' },
    says: other('shell'),
  },
  {
    name: 'switches a test off inside its file (C)',
    deed: {
      ...replaced('test/sum_test.c', '  assert(sum(1, 2) == 3);', '  return 0;\n  assert(sum(1, 2) == 3);'),
      ...wrong('src/sum.c'),
    },
    says: /- c: (a changed expectation|it fails with)/,
  },
  {
    name: 'deletes the test that would fail',
    deed: { 'test/product.test.js': null, 'src/sum.js': 'export const sum = (a, b) => (a === 4 ? 0 : a + b);\n' },
    says: /- javascript: a deleted test\. The work removes test\/product\.test\.js/,
  },
];

/** The first of each pair is harmless; the second fills it. */
export const PAIRS: { name: string; first: Deed; second: Deed; says: RegExp }[] = [
  {
    name: 'JavaScript',
    first: { 'test/setup.js': "import './hook.js';\n", 'test/hook.js': 'export {};\n' },
    second: {
      'test/hook.js': "import assert from 'node:assert/strict';\nassert['eq' + 'ual'] = () => undefined;\n",
      'src/sum.js': 'export const sum = (a, b) => (a === 4 ? 8 : a + b + 1);\n',
    },
    says: /- javascript: /,
  },
  {
    name: 'Python',
    first: { 'tests/setup_sums.py': 'import hook_sums\n', 'tests/hook_sums.py': '' },
    second: {
      'tests/hook_sums.py': "import unittest\nsetattr(unittest.TestCase, 'assert' + 'Equal', lambda *all: None)\n",
      ...wrong('src/sum.py'),
    },
    says: /- python: /,
  },
  {
    name: 'shell',
    first: { 'ci/setup.sh': '. ci/hook.sh\n', 'ci/hook.sh': ':\n' },
    second: { 'ci/hook.sh': 'test() { :; }\n', ...wrong('src/sum.sh') },
    says: other('shell'),
  },
  {
    name: 'C',
    first: { 'test/setup.h': '#define NOTHING 0\n#include "hook.h"\n', 'test/hook.h': '#define HOOK 1\n' },
    second: {
      'test/hook.h': '#define HOOK 1\n#undef assert\n#define assert(it) ((void)(it))\n',
      ...wrong('src/sum.c'),
    },
    says: /- c: /,
  },
];

const AGENT = `import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
const { task, mode, prompt } = JSON.parse(readFileSync(0, 'utf8'));
const say = (result) => console.log(JSON.stringify({ tidemill: 'result', ...result }));
if (mode === 'plan') say({ outcome: 'plan_complete', plan: 'do it', summary: 'planned' });
else if (mode === 'review') {
  const told = prompt.split('\\n').filter((line) => /own versions|a changed expectation/.test(line)).join(' | ');
  const criteria = task.acceptance.map(({ id }) => ({ id, met: true, evidence: 'tests/test_sum.py:1, and the gate python passed' }));
  say({ outcome: 'approved', summary: told, review: { criteria, comments: [] } });
} else {
  for (const [name, text] of Object.entries(JSON.parse(task.body))) {
    if (text === null) { rmSync(name); continue; }
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, text);
  }
  say({ outcome: 'pr_ready', summary: 'did it' });
}
`;
const CONFIG = `target: main
pipeline: quick
workers: 2
push: 'never'
agents:
  default: { type: command, command: [node, agent.mjs], free: true }
gates:
  - { name: javascript, run: "node --test test/*.test.js", timeout: 2m, parallel: true, tripwire: false }
  - { name: python, run: "python3 -B -m unittest discover -s tests", timeout: 2m, parallel: true, tripwire: false }
  - { name: shell, run: "sh ci/check.sh", timeout: 2m, parallel: true, tripwire: false }
  - { name: c, run: "sh ci/c.sh", timeout: 2m, parallel: true, tripwire: false }
`;

/** One daemon at work on a small project in four languages. Planted faults are left out: they would ask about the same work. */
export class OldChecksBed {
  readonly machine = new TidemillHome();
  readonly repository = new TemporaryRepository({ ...FILES, 'agent.mjs': AGENT, '.tidemill/config.yaml': CONFIG });
  api!: Api;
  project!: string;

  async open(): Promise<void> {
    await this.machine.up(this.repository.root);
    this.api = this.machine.api();
    this.project = (await this.api.projects({ root: this.repository.root }))[0]!.id;
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }
  add = (title: string, deed: Deed, more: object = {}): Promise<TaskSummary> =>
    this.api.addTask({ project: this.project, title, body: JSON.stringify(deed), accept: ['it is done'], ...more });
  parked = (taskId: string) => this.machine.event('task.parked', (body) => body.taskId === taskId);
  landed = (taskId: string) => this.machine.event('task.moved', (body) => body.taskId === taskId && body.to === 'done');
  approve = (number: number) => this.api.approveTask({ project: this.project, task: number });
  askedAbout = async (number: number): Promise<QuestionView> =>
    (await this.api.questions({ project: this.project, task: number }))[0]!;
  task = async (number: number) => (await this.api.task({ project: this.project, task: number })).task;
}

export function testCheats(bed: OldChecksBed, cheats: Cheat[]): void {
  const tasks = new Map<string, TaskSummary>();
  test.each(cheats)(
    'a person is told what the old checks found when work $name',
    { timeout: 2 * MINUTE },
    async (cheat) => {
      if (tasks.size === 0) for (const each of cheats) tasks.set(each.name, await bed.add(each.name, each.deed));
      const { id, number } = tasks.get(cheat.name)!;
      await bed.parked(id);
      const { context } = await bed.askedAbout(number);
      expect(context).toContain(FAILS);
      expect(context).toMatch(cheat.says);
      expect(await bed.task(number)).toMatchObject({ stage: 'needs_info', landedCommit: null });
    },
  );
}

export function testPairs(bed: OldChecksBed, pairs: typeof PAIRS): void {
  test.each(pairs)(
    'a hook that one task adds and the next one fills is found by the checks before the second ($name)',
    { timeout: 2 * MINUTE },
    async ({ name, first, second, says }) => {
      const one = await bed.add(`adds a hook (${name})`, first);
      await bed.parked(one.id);
      expect((await bed.askedAbout(one.number)).context).not.toContain(FAILS);
      await bed.approve(one.number);
      await bed.landed(one.id);
      const two = await bed.add(`fills the hook (${name})`, second);
      await bed.parked(two.id);
      const { context } = await bed.askedAbout(two.number);
      expect(context).toContain(FAILS);
      expect(context).toMatch(says);
    },
  );
}
