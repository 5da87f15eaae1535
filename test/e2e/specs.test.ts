import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SpecDetail, TaskDetail } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ideaRuns, result, SpecBed } from '../support/spec-bed.ts';

const MINUTE = 60_000;

const bed = new SpecBed();
const { machine, root, spec, refused, shown, questions } = bed;

beforeAll(async () => {
  bed.play(undefined, [
    { when: { mode: 'ideate' }, do: result({ ideation: { reply: 'Who needs parts?' } }) },
    ...ideaRuns,
  ]);
  await machine.up(root);
}, MINUTE);
afterAll(() => bed.close());

test('a text becomes a specification, tasks, landed work, and is checked', { timeout: 2 * MINUTE }, async () => {
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
    estimateMinutes: 10,
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

test('an idea becomes a specification and code that passed its own command and a review that knew both', {
  timeout: 2 * MINUTE,
}, async () => {
  const about = { idea: '1', by: 'ada' };
  await machine.ask(root, (api, project) => api.createIdea({ project, text: 'Parts for everyone', by: 'ada' }));
  expect(await refused('spec', 'new', '--idea', '1')).toContain('the idea I1 has no brief');
  const write = (type: string, content: string) =>
    machine.ask(root, (api, project) =>
      api.correctIdea({ project, ...about, correction: { kind: 'artifact', type, content } }),
    );
  await write('brief', 'Parts for every harbour.');
  await write('target-user', 'Harbour masters');
  const made = await spec('new', '--idea', '1');
  expect(made).toMatchObject({ source: 'idea', status: 'drafting' });
  await machine.event('spec.drafted', (body) => body.subjectId === made.id);
  expect((await shown(made.number)).spec.source.text).toContain('Parts for every harbour.');

  const { spec: approved, tasks } = await spec<SpecDetail>('approve', String(made.number));
  const gate = `validate #${tasks[0]!.number}`;
  await machine.event('merge.landed', (body) => body.taskId === approved.tasks[0]!.taskId);
  const receipts = (await machine.events(root, ['evidence.recorded'])).flatMap(({ body }) =>
    body.type === 'evidence.recorded' && body.evidence.gate === gate ? [body.evidence] : [],
  );
  // The first attempt failed twice: a flake decides nothing.
  expect(receipts.map(({ status }) => status)).toEqual(['fail', 'fail', 'pass']);
  expect(receipts[0]).toMatchObject({ command: 'grep -q mended part-9.txt', exitCode: 1 });
  expect((await machine.events(root, ['run.sent_back'])).map(({ body }) => body)).toMatchObject([{ gates: [gate] }]);
});
