import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxItem, LoopView, ProposalView, TaskDetail } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;

interface Drafted {
  category: string;
  title: string;
  description: string;
  more?: object;
}

const CRITERIA = [
  'greet("") returns "Hello, you!" and not "Hello, !"',
  'greet(" Ada ") returns "Hello, Ada!"',
  'the test file covers both cases and passes',
];

/** A rule of the scenario: what the agent proposes in this category. */
const rule = ({ category, title, description, more = {} }: Drafted) => ({
  when: { mode: 'propose', prompt: `Propose one improvement: ${category}` },
  do: [
    {
      result: {
        summary: title,
        proposal: { title, description, criteria: CRITERIA, effortHours: 1, files: ['greet.js'], ...more },
      },
    },
  ],
});
const noIdea = (category: string) => ({
  when: { mode: 'propose', prompt: `Propose one improvement: ${category}` },
  do: [{ result: { outcome: 'no_idea', summary: `looked at ${category}, found nothing` } }],
});

const SCENARIO = {
  runs: [
    rule({
      category: 'Code Quality',
      title: 'Name the greeting once',
      description: 'The word Hello is repeated. A constant keeps it in one place.',
    }),
    rule({
      category: 'Testing',
      title: 'Test the greeting of an empty name',
      description: 'Nothing shows what an empty name gives. Add tests for it.',
      more: { newFiles: ['greet.test.js'] },
    }),
    rule({
      category: 'Technical Debt',
      title: 'Remove the old farewell function',
      description: 'Nobody calls farewell since last year. Remove it with its comment.',
    }),
    // The same again: a person will have refused the second one by then.
    rule({
      category: 'Documentation',
      title: 'Test greeting with an empty name',
      description: 'Nothing shows what an empty name gives. Add tests for this case.',
      more: { newFiles: ['greet.test.js'] },
    }),
    noIdea('Error Handling & Resilience'),
  ],
  default: {
    implement: [
      { write: { path: 'greet.js', content: 'export const greet = (n) => "Hello, " + (n.trim() || "you") + "!";\n' } },
      { result: {} },
    ],
    review: [{ result: { approve: true } }],
  },
};

const config = (more = '') => `target: main
pipeline: quick
agents:
  default: { type: scripted, script: scenario.json }
gates:
  - { name: test, run: "true" }
loop: { approval: requires_approval${more} }
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

beforeEach(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    'greet.js': 'export const greet = (name) => "Hello, " + name + "!";\n',
    'package.json': '{"name":"greeter","devDependencies":{"vitest":"1.0.0"}}\n',
    'scenario.json': JSON.stringify(SCENARIO),
    '.gitignore': '.tidemill/\n',
  });
  root = repository.root;
  repository.write({ '.tidemill/config.yaml': config() });
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

const loop = () => machine.json<LoopView>(['loop'], root);
const proposals = (...args: string[]) => machine.json<ProposalView[]>(['loop', 'proposals', ...args], root);

describe('the loop, by command line only', () => {
  test('an empty queue gives three proposals; one is approved and lands, one is refused and never comes back', {
    timeout: 3 * MINUTE,
  }, async () => {
    await machine.up(root);
    expect(await loop()).toMatchObject({ isOn: false, text: 'off, by the settings', queue: { depth: 0 } });
    const switched = await machine.run(['loop', 'on'], root);
    expect(switched.stdout).toContain('The loop is on.');
    await machine.event('proposal.checked', ({ number }) => number === 3);

    const view = await loop();
    expect(view).toMatchObject({ isOn: true, queue: { depth: 3, min: 3, max: 10 }, approval: 'requires_approval' });
    expect(view.waiting.map(({ number, category }) => [number, category])).toEqual([
      [1, 'code-quality'],
      [2, 'testing'],
      [3, 'technical-debt'],
    ]);
    const inbox = await machine.json<InboxItem[]>(['inbox'], root);
    expect(inbox.find(({ ref }) => ref === 'p1')).toMatchObject({
      kind: 'approval',
      command: 'tidemill loop approve 1',
    });

    const approved = await machine.json<ProposalView>(['loop', 'approve', '1'], root);
    expect(approved).toMatchObject({ status: 'accepted', task: { number: 1, title: 'Name the greeting once' } });
    const twice = await machine.run(['loop', 'approve', '1'], root);
    expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('proposal 1 is already approved') });
    await machine.event('proposal.ended', ({ number, outcome }) => number === 1 && outcome === 'landed');
    expect(readFileSync(join(root, 'greet.js'), 'utf8')).toContain('n.trim()');
    const { task } = await machine.json<TaskDetail>(['task', 'show', '1'], root);
    expect(task).toMatchObject({
      stage: 'done',
      kind: 'improvement',
      origin: { kind: 'loop', category: 'code-quality' },
    });

    const refused = await machine.run(['loop', 'refuse', 'p2', '--why', 'we test this elsewhere'], root);
    expect(refused.stdout).toContain('Proposal 2 is refused.');
    expect(await machine.json<ProposalView>(['loop', 'score', '3', '9'], root)).toMatchObject({ score: 9 });
    await machine.event(
      'proposal.checked',
      ({ verdict, why }) => verdict === 'duplicate' && why.includes('proposal 2'),
    );
    await machine.event('category.rested', ({ category }) => category === 'error-handling');

    // Meanwhile the first categories have their turn again.
    const all = (await proposals()).filter(({ number }) => number >= 1 && number <= 4);
    expect(all.map(({ number, status, outcome }) => [number, status, outcome])).toEqual([
      [4, 'duplicate', null],
      [3, 'waiting', null],
      [2, 'refused', null],
      [1, 'accepted', 'landed'],
    ]);
    const categories = await machine.run(['loop', 'categories'], root);
    expect(categories.stdout).toMatch(/error-handling\s+resting/);
    expect(categories.stdout).toMatch(/code-quality\s+\w+.*\d\/1\/1\/0/);
    expect(categories.stdout).toMatch(/security\s+later/);

    for (const [args, message] of [
      [['loop', 'approve', '99'], 'there is no proposal P99'],
      [['loop', 'score', '3', '11'], 'whole number from 0 to 10'],
      [['loop', 'refuse', '3'], '--why'],
      [['loop', 'refuse', '3', '--why', ' '], 'says why'],
    ] as const)
      expect(await machine.run([...args], root)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

test('a daemon that is killed in each step of the loop loses and doubles nothing', {
  timeout: 4 * MINUTE,
}, async () => {
  let daemon = await machine.up(root);
  const restart = async () => {
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    daemon = await machine.up(root);
  };
  await machine.run(['loop', 'on'], root);
  await machine.event('category.used');
  await restart();
  await machine.event('proposal.made');
  await restart();
  await machine.event('proposal.checked', ({ number }) => number === 3);
  await restart();
  const waiting = (await loop()).waiting.map(({ number, draft }) => [number, draft.title]);
  expect(waiting).toEqual([
    [1, 'Name the greeting once'],
    [2, 'Test the greeting of an empty name'],
    [3, 'Remove the old farewell function'],
  ]);
  await machine.json(['loop', 'approve', '1'], root);
  await restart();
  await machine.event('run.started', ({ mode }) => mode === 'implement');
  await restart();
  await machine.event('proposal.ended', ({ number, outcome }) => number === 1 && outcome === 'landed');
  await restart();
  expect(await machine.json<object[]>(['task', 'list'], root)).toMatchObject([{ number: 1, stage: 'done' }]);
  const subjects = repository.git('log', '--format=%s', 'main').split('\n');
  expect(subjects.filter((subject) => subject.includes('Name the greeting once'))).toHaveLength(1);
  const accepted = (await proposals()).filter(({ status }) => status === 'accepted');
  expect(accepted.map(({ number, outcome }) => [number, outcome])).toEqual([[1, 'landed']]);
  expect((await machine.run(['doctor'], root)).code).toBe(0);
});
