import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QuestionView, SpecDetail, SpecSummary, TaskDetail, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;

const task = (number: number, more: object = {}) => ({
  id: `T${number}`,
  title: `Write part ${number}`,
  phase: 'api',
  action: 'create',
  files: [`part-${number}.txt`],
  requirements: ['R1'],
  accept: [`part-${number}.txt has the text "part"`],
  validate: `test -s part-${number}.txt`,
  estimateMinutes: 10,
  ...more,
});
const DRAFT = {
  title: 'Parts',
  summary: 'Eight parts.',
  requirements: [
    { id: 'R1', text: 'There are parts' },
    { id: 'R2', kind: 'non_functional', text: 'The export takes less than a second' },
  ],
  scope: { in: ['parts'], out: ['wholes'] },
  dependencies: ['a printer'],
  tasks: [
    task(1, { phase: 'database' }),
    task(2, { dependsOn: ['T1'] }),
    task(3, { dependsOn: ['T1'], requirements: ['R2'] }),
    task(4, { phase: 'tests', dependsOn: ['T2', 'T3'], requirements: ['R1', 'R2'] }),
  ],
};
const UNCLEAR = {
  ...DRAFT,
  ambiguities: [{ requirement: 'The export is fast', term: 'fast', options: ['below a second', 'below a minute'] }],
};
const ANSWER = 'Answer: below a second';
const result = (given: object) => [{ result: given }];
const verdict = (requirement: string, met = true) => ({
  requirement,
  met,
  evidence: `part-1.txt:1 shows ${requirement}`,
});

const scenario = (judgement: object[] = [verdict('R1'), verdict('R2')], more: object[] = []) => ({
  runs: [
    ...more,
    { when: { mode: 'specify', prompt: ANSWER }, do: result({ spec: DRAFT }) },
    { when: { mode: 'specify' }, do: result({ spec: UNCLEAR }) },
    { when: { mode: 'initialize' }, do: result({ spec: DRAFT }) },
    {
      when: { mode: 'judge', prompt: 'Meet R2' },
      do: result({ judgement: { requirements: [verdict('R1'), verdict('R2')] } }),
    },
    { when: { mode: 'judge' }, do: result({ judgement: { requirements: judgement } }) },
    {
      when: { mode: 'implement' },
      do: [{ write: { path: 'part-{taskNumber}.txt', content: 'part\n' } }, { result: { summary: 'written' } }],
    },
  ],
});

const CONFIG = `target: main
pipeline: quick
agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
gates:
  - { name: test, run: "true" }
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

beforeEach(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ 'README.md': '# Parts\n', 'main.js': '' });
  root = repository.root;
  play();
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

const play = (...given: Parameters<typeof scenario>) =>
  repository.write({
    '.tidemill/config.yaml': CONFIG,
    '.tidemill/scenario.yaml': JSON.stringify(scenario(...given)),
    '.tidemill/gotchas.yaml': '- { text: Parts need a newline at the end, files: "part-*.txt", confidence: 0.9 }\n',
  });
const spec = <T = SpecSummary>(...args: string[]) => machine.json<T>(['spec', ...args], root);
const refused = async (...args: string[]) => (await machine.run(args, root)).stderr;
const shown = (number = 1) => spec<SpecDetail>('show', String(number));
const questions = () => machine.json<QuestionView[]>(['questions'], root);

test('a text becomes a specification, tasks, landed work, and is checked', { timeout: 2 * MINUTE }, async () => {
  await machine.up(root);
  expect(await spec('new', 'Parts that can be exported fast')).toMatchObject({ number: 1, status: 'drafting' });

  // Asked and answered before any task exists.
  await machine.event('question.asked', (body) => body.question.type === 'blocking');
  expect(await shown()).toMatchObject({ spec: { status: 'asking', version: 1, tasks: [] } });
  const [unclear] = (await questions()).filter(({ holds }) => holds);
  expect(unclear).toMatchObject({
    text: 'In "The export is fast", what exactly does "fast" mean?',
    tags: ['requirement_ambiguous'],
  });
  expect(unclear?.options.map(({ label }) => label)).toEqual(['below a second', 'below a minute']);
  expect(await refused('spec', 'approve', '1')).toContain('S1 is asking and cannot be approved');
  await machine.json(['answer', unclear!.ref, '--option', '1'], root);

  await machine.event('spec.drafted', (body) => body.version === 2);
  await machine.event('question.asked', (body) => body.question.tags[0] === 'spec_complete');
  const asked = (await questions()).map(({ tags, type }) => [tags[0], type]);
  expect(asked).toContainEqual(['before_finalize_spec', 'confirming']);
  expect(asked).toContainEqual(['external_dependencies', 'educational']);
  expect(asked).toContainEqual(['spec_complete', 'celebratory']);
  const draft = await shown();
  expect(draft.tasks.map(({ id, number }) => [id, number])).toEqual([
    ['T1', null],
    ['T2', null],
    ['T3', null],
    ['T4', null],
  ]);
  expect(draft.tasks[0]).toMatchObject({
    readiness: { score: 100 },
    gotchas: [{ text: 'Parts need a newline at the end' }],
  });
  expect((await machine.run(['spec', 'diff', '1'], root)).stdout).toContain('-## Open points');
  expect(await refused('spec', 'approve', '1', '--version', '1')).toContain(
    'version 1 of S1 is not the current one: that is version 2',
  );

  const approved = await spec<SpecDetail>('approve', '1');
  expect(approved.tasks.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  expect(await refused('spec', 'approve', '1')).toMatch(/S1 was already approved by .* \(version 2\)/);
  // Answers about the draft are no longer needed. Questions about its tasks may come at any time.
  const ABOUT_DRAFT = ['before_finalize_spec', 'external_dependencies', 'spec_complete'];
  expect((await questions()).filter(({ tags }) => ABOUT_DRAFT.includes(tags[0] ?? ''))).toEqual([]);
  const { task: first } = await machine.json<TaskDetail>(['task', 'show', '4'], root);
  expect(first).toMatchObject({
    after: [2, 3],
    files: ['part-4.txt'],
    origin: { kind: 'spec', requirements: ['R1', 'R2'] },
  });
  expect(first.body).toContain('This command shows that it is done: `test -s part-4.txt`');
  expect(first.body).toContain('Parts need a newline at the end');

  await machine.event('spec.judged');
  const done = await shown();
  expect(done.spec).toMatchObject({ status: 'done', approved: { version: 2, overridden: [] } });
  expect(done.requirements).toMatchObject([
    { id: 'R1', done: 3, total: 3, met: true },
    { id: 'R2', done: 2, total: 2, met: true, evidence: 'part-1.txt:1 shows R2' },
  ]);
  expect(done.tasks.every(({ landedCommit, gates }) => landedCommit !== null && gates.includes('test'))).toBe(true);
  expect(existsSync(join(root, 'part-4.txt'))).toBe(true);
  const milestones = await machine.events(root, ['question.asked']);
  expect(
    milestones.some(({ body }) => body.type === 'question.asked' && body.question.sourceId.startsWith('milestone')),
  ).toBe(true);
});

describe('a specification', () => {
  test('that is not met goes to a person, and gets another task', { timeout: 2 * MINUTE }, async () => {
    play([verdict('R1'), { requirement: 'R2', met: false, evidence: 'nothing measures it' }]);
    await machine.up(root);
    await spec('new', `Parts. ${ANSWER}`);
    await machine.event('spec.drafted');
    await spec('approve', '1');
    await machine.event('question.asked', (body) => body.question.tags[0] === 'requirement_unmet');
    expect(await shown()).toMatchObject({ spec: { status: 'checking', why: 'not met: R2' } });
    const [question] = (await questions()).filter(({ holds }) => holds);
    expect(question?.text).toContain('- R2: nothing measures it');
    await machine.json(['answer', question!.ref, '--option', '1'], root);
    await machine.event('spec.judged', (body) => body.isDone);
    const { spec: done, tasks } = await shown();
    expect(done.status).toBe('done');
    expect(tasks.at(-1)).toMatchObject({
      id: 'F5',
      title: 'Meet R2: The export takes less than a second',
      stage: 'done',
    });
  });

  test('is revised with comments on lines, edited, exported, imported and rejected', {
    timeout: 2 * MINUTE,
  }, async () => {
    play(
      [],
      [
        {
          when: { mode: 'specify', prompt: 'On line 5 ("## Requirements"): Fewer' },
          do: result({ spec: { ...DRAFT, title: 'Fewer parts' } }),
        },
      ],
    );
    await machine.up(root);
    await spec('new', `Parts. ${ANSWER}`);
    await machine.event('spec.drafted');
    const { document } = await shown();
    expect(document.split('\n')[4]).toBe('## Requirements');
    expect(await spec('revise', '1', '--comment', '5:Fewer')).toMatchObject({ status: 'drafting' });
    await machine.event('spec.drafted', (body) => body.version === 2);
    expect(await shown()).toMatchObject({ spec: { title: 'Fewer parts', version: 2 } });
    expect((await spec<SpecDetail>('show', '1', '--version', '1')).comments).toMatchObject([
      { line: 5, text: 'Fewer' },
    ]);

    await spec('export', '1', '--to', 'out');
    repository.write({
      'out/spec.md': readFileSync(join(root, 'out/spec.md'), 'utf8').replace('Fewer parts', 'My parts'),
    });
    expect(await spec('edit', '1', 'out/spec.md', 'out/tasks.md')).toMatchObject({ version: 3, title: 'My parts' });
    expect(await spec('import', 'out/spec.md', 'out/tasks.md')).toMatchObject({
      number: 2,
      status: 'draft',
      version: 1,
    });
    expect(await spec('reject', '2', '--why', 'twice')).toMatchObject({ status: 'rejected' });
    expect(await refused('spec', 'approve', '2')).toContain('S2 is rejected and cannot be approved');
    expect(await machine.json<TaskSummary[]>(['task', 'list'], root)).toEqual([]);

    repository.write({ 'feature-list.json': JSON.stringify([{ id: 'a', description: 'One', passes: false }]) });
    expect(await spec<object>('import', 'feature-list.json')).toMatchObject({ created: 1, first: 1 });
  });

  test('with bad input is refused or failed with the reason', { timeout: 2 * MINUTE }, async () => {
    const broken = (name: string, tasks: object[]) => ({
      when: { mode: 'specify', prompt: name },
      do: result({ spec: { ...DRAFT, tasks } }),
    });
    play(
      [],
      [
        { when: { mode: 'specify', prompt: 'case-prose' }, do: [{ say: { text: 'Here is a fine specification.' } }] },
        broken('case-cycle', [task(1, { dependsOn: ['T2'] }), task(2, { dependsOn: ['T1'], requirements: ['R2'] })]),
        broken('case-outside', [task(1, { files: ['../../etc/passwd'], requirements: ['R1', 'R2'] })]),
        broken('case-twice', [task(1), task(2, { title: 'Write part 1', requirements: ['R2'] })]),
        broken('case-weak', [task(1, { accept: [], validate: '', requirements: ['R1', 'R2'] })]),
      ],
    );
    await machine.up(root);
    const fails = async (text: string) => {
      const { number, id } = await spec('new', text);
      await machine.event('spec.failed', (body) => body.subjectId === id);
      return (await shown(number)).spec.why;
    };
    expect(await fails('case-prose')).not.toBe('');
    expect(await fails('case-cycle')).toContain('tasks wait for each other: T1 → T2 → T1');
    expect(await fails('case-outside')).toContain('the file "../../etc/passwd" leaves the repository');
    expect(await fails('case-twice')).toContain('tasks T1 and T2 have the same title');
    expect(await refused('spec', 'new', ' ')).toContain('a specification needs a text or an idea');
    expect(await refused('spec', 'show', '9')).toContain('there is no specification S9');
    repository.write({ 'long.md': 'x'.repeat(1_000_000) });
    expect(await refused('spec', 'new', '--file', 'long.md')).toContain('more than 200000 characters');
    await machine.event('alert.raised', (body) => body.kind === 'spec_stopped');

    const weak = await spec('new', 'case-weak');
    await machine.event('spec.drafted', (body) => body.subjectId === weak.id);
    expect(await refused('spec', 'approve', String(weak.number))).toContain('not ready to be built: T1 (50)');
    const forced = await spec<SpecDetail>('approve', String(weak.number), '--override');
    expect(forced.spec.approved?.overridden).toEqual(['T1']);
  });
});

test('a daemon that is killed in each step goes on where it was', { timeout: 2 * MINUTE }, async () => {
  let daemon = await machine.up(root);
  const restart = async () => {
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    daemon = await machine.up(root);
  };
  await spec('new', 'Parts that can be exported fast');
  await restart();
  await machine.event('question.asked', (body) => body.question.type === 'blocking');
  await restart();
  const [unclear] = (await questions()).filter(({ holds }) => holds);
  await machine.json(['answer', unclear!.ref, '--option', '1'], root);
  await restart();
  await machine.event('spec.drafted', (body) => body.version === 2);
  await restart();
  await spec('approve', '1');
  await restart();
  await machine.event('spec.checking');
  await restart();
  await machine.event('spec.judged');
  const { spec: done, tasks } = await shown();
  expect(done).toMatchObject({ status: 'done', version: 2 });
  expect(tasks.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  const asked = await machine.events(root, ['question.asked']);
  const ambiguous = asked.filter(
    ({ body }) => body.type === 'question.asked' && body.question.tags[0] === 'requirement_ambiguous',
  );
  expect(ambiguous).toHaveLength(1);
});

test('an idea needs its brief, which becomes the request', { timeout: 2 * MINUTE }, async () => {
  play([], [{ when: { mode: 'ideate' }, do: result({ ideation: { reply: 'Who needs parts?' } }) }]);
  await machine.up(root);
  const about = { idea: '1', by: 'ada' };
  await machine.ask(root, (api, project) => api.createIdea({ project, text: 'Parts for everyone', by: 'ada' }));
  expect(await refused('spec', 'new', '--idea', '1')).toContain('the idea I1 has no brief');
  const write = (type: string, content: string) =>
    machine.ask(root, (api, project) =>
      api.correctIdea({ project, ...about, correction: { kind: 'artifact', type, content } }),
    );
  await write('brief', `Parts. ${ANSWER}`);
  await write('target-user', 'Harbour masters');
  expect(await spec('new', '--idea', '1')).toMatchObject({ source: 'idea', status: 'drafting' });
  await machine.event('spec.drafted');
  expect((await shown()).spec.source.text).toContain(ANSWER);
});

describe('a new repository', () => {
  test('is planned by the initializer: with init --plan, and with any text while it is empty', {
    timeout: 2 * MINUTE,
  }, async () => {
    play([], [{ when: { mode: 'ideate' }, do: result({ ideation: { reply: 'Who needs parts?' } }) }]);
    repository.git('rm', '-q', 'main.js');
    repository.git('commit', '-q', '-m', 'Nothing yet');
    const hint = await machine.run(['init'], root);
    expect(hint.stdout).toContain('The repository is empty. An agent can plan it: tidemill init --plan');
    const { plan } = await machine.json<{ plan: SpecSummary }>(['init', '--plan', 'A tool for parts'], root);
    expect(plan).toMatchObject({ number: 1, source: 'initializer', status: 'drafting' });
    expect(await spec('new', 'Another tool')).toMatchObject({ number: 2, source: 'initializer' });
    await machine.up(root);
    await machine.event('spec.drafted', (body) => body.subjectId === plan.id);
    expect(await shown()).toMatchObject({ spec: { status: 'draft' }, version: { by: { name: 'initializer' } } });

    // The brief of an idea reaches the initializer, too.
    const correction = { kind: 'artifact' as const, type: 'brief', content: 'A mill for parts' };
    await machine.ask(root, (api, project) => api.createIdea({ project, text: 'Parts for everyone', by: 'ada' }));
    await machine.ask(root, (api, project) => api.correctIdea({ project, idea: '1', by: 'ada', correction }));
    const brief = await spec('new', '--idea', '1');
    expect(brief).toMatchObject({ number: 3, source: 'initializer' });
    await machine.event('spec.drafted', (body) => body.subjectId === brief.id);
    const planned = await shown(3);
    expect(planned.spec.source).toMatchObject({
      ideaId: expect.any(String),
      text: expect.stringContaining('A mill for parts'),
    });
    expect(planned.version?.by.name).toBe('initializer');
  });
});
