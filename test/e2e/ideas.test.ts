import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IdeaDetail, IdeaSummary } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StartedDaemon, TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const artifact = (type: string, content = `All about the ${type} of the tide table, in enough words to be clear.`) =>
  `{ type: ${type}, summary: The ${type}, content: "${content}", confidence: 0.8 }`;
/** A rule for the reply to a message that contains these words. */
const rule = (words: string, ideation: string, said = 'Understood.') => `
  - when: { mode: ideate, prompt: "${words}" }
    do:
      - say: "${said}"
      - result: { summary: replied, ideation: { reply: "${said}", ${ideation} } }`;
const SCENARIO = `runs:${[
  rule('all is settled', 'signals: { confidence: 0.9 }', 'The brief is ready.'),
  rule(
    'ten of twelve',
    `signals: { decisions: [{ type: validation, text: Ten of twelve asked for it }, { type: validation, text: Data is free }, { type: validation, text: Phones work there }], risks: [{ text: Fog, severity: high }] }`,
  ),
  rule('FOUND-BY-SEARCH', 'signals: { confidence: 0.5 }', 'The search helped.'),
  rule(
    'first a list',
    `signals: { artifacts: [${artifact('mvp-features')}, ${artifact('differentiator')}], confidence: 0.5 }, complexity: 9, wantsResearch: [Tide data]`,
  ),
  rule('Answer: Fishermen', 'signals: {}', 'Fishermen, noted.'),
  rule(
    'harbours without a network',
    `title: Tide table, signals: { artifacts: [${artifact('target-user')}, ${artifact('problem', 'No tides')}, ${artifact('solution-concept')}], confidence: 0.4 }`,
    'Who reads it?',
  ),
].join('')}
`;
const SEARCH = `#!/bin/sh
case "$1" in *hang*) sleep 600;; esac
echo '<html><script>steal()</script><p>FOUND-BY-SEARCH: tide data is free</p></html>'
`;
const CONFIG = `target: main
agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
research: { command: [sh, search.sh, "{query}"], timeout: 10s }
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let daemon: StartedDaemon;
let root: string;

beforeAll(async () => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    'search.sh': SEARCH,
    'README.md': '# Harbour tools\n',
    '.tidemill/config.yaml': CONFIG,
    '.tidemill/scenario.yaml': SCENARIO,
    '.tidemill/profile.yaml': 'goals: [Help my village]\nskills: [Sailing]\nlifeStage: retired\n',
  });
  root = repository.root;
  daemon = await machine.up(root);
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

const cli = (...args: string[]) => machine.run(args, root);
const json = <T>(...args: string[]) => machine.json<T>(args, root);
const shown = (idea = '1') => machine.ask(root, (api, project) => api.idea({ project, idea }));
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
  expect(found.idea.research!.why).toContain('no answer within 10 s');
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

test('the agent gets phase, conversation, profile, signals, corrections and answers', async () => {
  const { messages } = await shown();
  const run = messages.findLast(({ role }) => role === 'agent')!.runId!;
  // The scripted agent does not print its prompt; the rule that fitted shows that the words were in it.
  expect((await cli('logs', run)).stdout).toContain('The brief is ready.');
  const fork = await json<IdeaDetail>('idea', 'fork', '1', '--title', 'On paper');
  expect(fork.idea).toMatchObject({ number: 2, phase: 'REFINING', forkedFrom: { number: 1 } });
  repository.write({ '.tidemill/phases/refining.md': 'OWN PHASE PROMPT\n' });
  writeFileSync(
    join(root, '.tidemill/scenario.yaml'),
    `runs:
  - when: { mode: ideate, prompt: "OWN PHASE PROMPT" }
    do: [{ result: { ideation: { reply: "own phase" } } }]
`,
  );
  const said = await json<IdeaDetail>('idea', 'say', '2', 'and now?');
  expect(said.messages.at(-1)!.text).toBe('own phase');
  for (const words of ['Goals: Help my village', 'Ten of twelve asked for it', 'all is settled']) {
    writeFileSync(
      join(root, '.tidemill/scenario.yaml'),
      `runs: [{ when: { mode: ideate, prompt: "${words}" }, do: [{ result: { ideation: { reply: "saw ${words}" } } }] }]\n`,
    );
    const seen = await json<IdeaDetail>('idea', 'say', '2', 'look');
    expect(seen.messages.at(-1)!.text).toBe(`saw ${words}`);
  }
}, 120_000);

test('bad input is refused with what would be right', async () => {
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

test('people correct and remove signals, pause, archive, and write in their script', async () => {
  writeFileSync(
    join(root, '.tidemill/scenario.yaml'),
    `runs: [{ when: { mode: ideate, prompt: "جدول" }, do: [{ result: { ideation: { reply: "ما المشكلة؟", signals: { risks: [الضباب] } } } }] }]\n`,
  );
  repository.write({ '.tidemill/config.yaml': `${CONFIG}ideas: { keep: data }\n` });
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

test('a daemon killed during a reply loses no message: the next one replies to all', async () => {
  writeFileSync(
    join(root, '.tidemill/scenario.yaml'),
    `runs:
  - { when: { mode: ideate, attempt: 1 }, do: [{ hang: {} }] }
  - { when: { mode: ideate, prompt: "and at night" }, do: [{ result: { ideation: { reply: "Both, then." } } }] }
`,
  );
  const { number } = (await json<IdeaDetail>('idea', 'Lights for the pier', '--no-wait')).idea;
  const detail = () => shown(String(number));
  await until(async () => (await detail()).idea.briefedUpTo === 1);
  await json('idea', 'say', String(number), 'and at night', '--no-wait');
  daemon.child.kill('SIGKILL');
  await daemon.ended;
  daemon = await machine.up(root);
  await until(async () => (await detail()).messages.at(-1)?.role === 'agent');
  const { idea, messages } = await detail();
  expect(messages.map(({ text }) => text)).toEqual(['Lights for the pier', 'and at night', 'Both, then.']);
  expect(idea).toMatchObject({ jobId: null, hasNews: false, briefedUpTo: 2 });
  expect((await cli('doctor')).code).toBe(0);
}, 120_000);

test('a daemon killed while a question or a search waits goes on with it, and two people are both answered', async () => {
  writeFileSync(join(root, '.tidemill/scenario.yaml'), SCENARIO);
  const restart = async () => {
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    daemon = await machine.up(root);
  };
  const { number } = (await json<IdeaDetail>('idea', 'A second table for harbours without a network')).idea;
  const idea = String(number);
  const now = () => shown(idea);
  const open = async (part: string) => {
    await until(async () => (await now()).questions.some(({ text }) => text.includes(part)));
    return (await now()).questions.find(({ text }) => text.includes(part))!.ref;
  };
  const who = await open('Who would use this first');
  await restart();
  await cli('answer', who, '--option', '2');
  await restart();
  await cli('answer', await open('The problem so far'), 'Fishermen miss the tide and wait for hours in the cold');
  await until(async () => (await now()).idea.phase === 'NARROWING' && (await now()).idea.jobId === null);

  const write = (by: string, text: string) =>
    machine.ask(root, (api, project) => api.sayToIdea({ project, idea, text, by }));
  await Promise.all([write('ada', 'first a list of heights'), write('bea', 'first a list of times')]);
  await until(async () => (await now()).idea.research?.status === 'wanted' && (await now()).idea.jobId === null);
  const { messages, idea: both } = await now();
  const people = messages.filter(({ role, text }) => role === 'person' && text.startsWith('first a list'));
  expect(people.map(({ by }) => by.name).sort()).toEqual(['ada', 'bea']);
  expect(both).toMatchObject({ hasNews: false, briefedUpTo: expect.any(Number) });
  expect(both.briefedUpTo).toBeGreaterThanOrEqual(Math.max(...people.map((message) => message.number)));

  const search = await open('will be researched');
  await restart();
  await cli('answer', search, '--option', '1');
  await restart();
  await until(async () => (await now()).idea.research?.status === 'done');
  const asked = await machine.events(root, ['question.asked']);
  const about = asked.flatMap(({ body }) =>
    body.type === 'question.asked' && body.question.subjectId === both.id ? body.question.sourceId : [],
  );
  expect(about).toHaveLength(new Set(about).size);
}, 180_000);
