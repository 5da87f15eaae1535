import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IdeaDetail, IdeaSummary } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONFIG, IdeaBed } from '../support/idea-bed.ts';
import { until } from '../support/until.ts';

const bed = new IdeaBed();
const { machine, repository, root, cli, json, shown } = bed;
beforeAll(() => bed.open());
afterAll(() => bed.close());

/** Waits until the first idea is so. */
async function when(isSo: (detail: IdeaDetail) => boolean): Promise<IdeaDetail> {
  await until(async () => isSo(await shown()));
  return shown();
}
async function answer(part: string, ...how: string[]): Promise<void> {
  const { questions } = await when((detail) => detail.questions.some(({ text }) => text.includes(part)));
  const question = questions.find(({ text }) => text.includes(part))!;
  expect((await cli('answer', question.ref, ...how)).code).toBe(0);
}

test('an idea goes through its phases to a brief, by command line', async () => {
  const started = await cli('idea', 'A tide table for harbours without a network');
  expect(started.stdout).toMatch(/^I1 A tide table for harbours without a network/);
  expect(started.stdout.match(/Who reads it\?/g)).toHaveLength(1);
  // A blocking question keeps it in its phase. The short problem is asked about, too.
  await answer('Who would use this first', '--option', '2');
  await answer('The problem so far', 'Fishermen miss the tide and wait for hours in the cold');
  const narrowed = await when(({ idea }) => idea.phase === 'NARROWING' && idea.jobId === null);
  expect(narrowed.idea).toMatchObject({ title: 'Tide table', slug: expect.stringMatching(/^1-/) });
  expect(narrowed.messages.at(-1)).toMatchObject({ role: 'agent', text: 'Fishermen, noted.' });

  await cli('idea', 'say', '1', 'first a list of heights');
  const wanting = await when(({ idea }) => idea.research?.status === 'wanted');
  expect(wanting.idea).toMatchObject({ phase: 'VALIDATING', complexity: 9 });
  await answer('has many parts', '--option', '2');
  await answer('will be researched', 'Also hang forever');
  const found = await when(({ idea }) => idea.research?.status === 'done' && idea.jobId === null);
  const research = found.idea.artifacts.find(({ type }) => type === 'research')!;
  expect(research.content).toContain('FOUND-BY-SEARCH: tide data is free');
  expect(research.content).not.toMatch(/script|steal/);
  expect(found.idea.research!.why).toContain('no answer within 3 s');
  expect(found.messages.at(-1)).toMatchObject({ role: 'agent', text: 'The search helped.' });

  await cli('idea', 'say', '1', 'ten of twelve people want it');
  expect((await shown()).idea.phase).toBe('REFINING');
  const last = await cli('idea', 'say', '1', 'all is settled');
  expect(last.stdout).toContain('I1 is complete');
  const { idea } = await shown();
  expect(idea).toMatchObject({ status: 'complete', phase: 'COMPLETE' });

  // Every question that the catalogue has about ideas was raised by this conversation.
  const asked = await machine.events(root, ['question.asked']);
  const triggers = asked.flatMap(({ body }) => (body.type === 'question.asked' ? body.question.tags : []));
  for (const trigger of [
    'idea_created',
    'problem_statement_vague',
    'idea_complexity_high',
    'before_research',
    'phase_complete',
  ])
    expect(triggers).toContain(trigger);

  const page = await machine.ask(root, (api, project) => api.ideaMessages({ project, idea: 'I1', after: 1, limit: 2 }));
  expect(page.map(({ number }) => number)).toEqual([2, 3]);

  const { stdout } = await cli('idea', 'artifacts', '1');
  expect(stdout).toMatch(/brief\.md[\s\S]*Ten of twelve asked for it/);
  const branch = `idea/${idea.slug}`;
  const kept = () => repository.git('ls-tree', '-r', '--name-only', branch, '--', '.tidemill/ideas').split('\n');
  await until(() => kept().includes(`.tidemill/ideas/${idea.slug}/brief.md`));
  expect(kept()).toContain(`.tidemill/ideas/${idea.slug}/README.md`);
  expect(repository.git('log', '-1', '--format=%s', branch)).toBe('Keep idea I1: Tide table');
  expect(repository.git('status', '--porcelain')).toBe('');
  expect(repository.git('branch', '--show-current')).toBe('main');
});

test('the agent of an idea gets phase, conversation, profile, signals, corrections and answers', async () => {
  const { messages } = await shown();
  const run = messages.findLast(({ role }) => role === 'agent')!.runId!;
  // The scripted agent does not print its prompt; the rule that fitted shows that the words were in it.
  expect((await cli('logs', run)).stdout).toContain('The brief is ready.');
  const fork = await json<IdeaDetail>('idea', 'fork', '1', '--title', 'On paper');
  expect(fork.idea).toMatchObject({ number: 2, phase: 'REFINING', forkedFrom: { number: 1 } });
  repository.write({ '.tidemill/phases/refining.md': 'OWN PHASE PROMPT\n' });
  bed.play(`runs:
  - when: { mode: ideate, prompt: "OWN PHASE PROMPT" }
    do: [{ result: { ideation: { reply: "own phase" } } }]
`);
  const said = await json<IdeaDetail>('idea', 'say', '2', 'and now?');
  expect(said.messages.at(-1)!.text).toBe('own phase');
  for (const words of ['Goals: Help my village', 'Ten of twelve asked for it', 'all is settled']) {
    bed.play(
      `runs: [{ when: { mode: ideate, prompt: "${words}" }, do: [{ result: { ideation: { reply: "saw ${words}" } } }] }]\n`,
    );
    const seen = await json<IdeaDetail>('idea', 'say', '2', 'look');
    expect(seen.messages.at(-1)!.text).toBe(`saw ${words}`);
  }
}, 120_000);

test('bad input about an idea is refused with what would be right', async () => {
  const refused = async (...args: string[]) => {
    const { code, stderr } = await cli(...args);
    expect(code).not.toBe(0);
    return stderr;
  };
  expect(await refused('idea', '   ')).toContain('a message needs a text');
  expect(await refused('idea', 'lst')).toContain('did you mean "tidemill idea list"?');
  writeFileSync(join(root, 'paste.txt'), 'x'.repeat(1_000_000));
  expect(await refused('idea', 'say', '2', '--from', 'paste.txt')).toContain('at most 20,000 characters');
  expect(await refused('idea', 'show', '99')).toContain('there is no idea I99');
  expect(await refused('idea', 'say', '1', 'more')).toContain('I1 is complete');
  expect(await refused('idea', 'correct', '2', 'prose')).toContain('not JSON');
  expect(await refused('idea', 'correct', '2', '{"kind":"risk"}')).toContain('text');
  expect(await refused('idea', 'pause', '1')).toContain('I1 is complete');
  expect(readFileSync(join(root, 'paste.txt'), 'utf8')).toHaveLength(1_000_000);
});

test('people correct and remove signals of an idea, pause it, archive it, and write in their script', async () => {
  bed.play(
    `runs: [{ when: { mode: ideate, prompt: "جدول" }, do: [{ result: { ideation: { reply: "ما المشكلة؟", signals: { risks: [الضباب] } } } }] }]\n`,
  );
  repository.write({ '.tidemill/config.yaml': `${CONFIG}ideas: { keep: data }\n` });
  await until(() => readFileSync(join(machine.data, 'daemon.log'), 'utf8').includes('is now in effect'));
  const begun = await json<IdeaDetail>('idea', 'جدول المد والجزر للموانئ');
  expect(begun.idea).toMatchObject({ number: 3, slug: '3-idea', risks: [{ text: 'الضباب' }] });
  const signal = JSON.stringify({ kind: 'artifact', type: 'problem', summary: 'لا أحد يعرف' });
  const corrected = await json<IdeaDetail>('idea', 'correct', '3', signal);
  expect(corrected.idea.artifacts).toMatchObject([{ type: 'problem', correctedBy: { kind: 'person' } }]);
  // What `idea show` prints is enough to correct and to remove.
  const printed = (await cli('idea', 'show', '3')).stdout;
  const id = /^ {2}(risk_\S+) medium: /m.exec(printed)?.[1] ?? '';
  expect(id).toBe(corrected.idea.risks[0]!.id);
  expect(printed).toContain('problem (100 %');
  const worse = JSON.stringify({ kind: 'risk', id, text: 'الضباب الكثيف', severity: 'high' });
  expect((await json<IdeaDetail>('idea', 'correct', '3', worse)).idea.risks).toMatchObject([{ id, severity: 'high' }]);
  const removed = await json<IdeaDetail>('idea', 'remove', '3', id);
  expect(removed.idea.risks).toEqual([]);
  expect((await json<IdeaDetail>('idea', 'pause', '3')).idea.status).toBe('paused');
  expect((await cli('idea', 'say', '3', 'x')).stderr).toContain('tidemill idea resume 3');
  expect((await json<IdeaDetail>('idea', 'archive', '3')).questions).toEqual([]);
  const kept = join(machine.data, 'projects', begun.idea.projectId, 'ideas', '3-idea');
  await until(() => existsSync(join(kept, 'README.md')));
  expect(readFileSync(join(kept, 'problem.md'), 'utf8')).toContain('لا أحد يعرف');
  expect((await json<IdeaSummary[]>('idea', 'list')).map(({ number }) => number).sort()).toEqual([1, 2]);
  expect((await json<IdeaSummary[]>('idea', 'list', '--all')).map(({ number }) => number)).toContain(3);
});
