import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpecDetail, SpecSummary, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ANSWER, DRAFT, result, SpecBed, task, verdict } from '../support/spec-bed.ts';
import type { TidemillHome } from '../support/tidemill-home.ts';
import type { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;

let bed: SpecBed;
let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let spec: SpecBed['spec'];
let refused: SpecBed['refused'];
let shown: SpecBed['shown'];
let questions: SpecBed['questions'];

beforeEach(() => {
  bed = new SpecBed();
  ({ machine, repository, root, spec, refused, shown, questions } = bed);
});
afterEach(() => bed.close());

describe('a specification', () => {
  test('that is not met goes to a person, and gets another task', { timeout: 2 * MINUTE }, async () => {
    bed.play([verdict('R1'), { requirement: 'R2', met: false, evidence: 'nothing measures it' }]);
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
    bed.play(
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
    bed.play(
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

test('a daemon that is killed in each step of a specification goes on where it was', {
  timeout: 2 * MINUTE,
}, async () => {
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

describe('a new repository', () => {
  test('is planned by the initializer: with init --plan, and with any text while it is empty', {
    timeout: 2 * MINUTE,
  }, async () => {
    bed.play([], [{ when: { mode: 'ideate' }, do: result({ ideation: { reply: 'Who needs parts?' } }) }]);
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
