import {
  AgentEnvelope,
  type Idea,
  type IdeaMessage,
  type IdeaPhase,
  ideaMessageId,
  type Job,
  personActor,
} from '@tidemill/contract';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { ideaFiles } from './files.ts';
import { titleOf } from './idea.ts';
import { phaseAfter, type Signals } from './phase.ts';

const projectId = 'project_1';
const ideaId = 'idea_1';
const by = personActor('ada');
const of = { projectId, ideaId, by };
const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0.01, requests: 1 };

let mill: Mill;
beforeEach(() => {
  mill = new Mill();
});

const idea = (id = ideaId) => mill.records.get(id) as Idea;
const message = (number: number) => mill.records.get(ideaMessageId(ideaId, number)) as IdeaMessage;
const create = (text = 'A tide table for harbours') => mill.must({ type: 'idea.create', ...of, text });
const say = (text: string) => mill.must({ type: 'idea.say', ...of, text });

/** Plays the job that writes the next reply. */
function begin(): { runId: string; fence: { projectId: string; subjectId: string; jobId: string; token: number } } {
  const jobId = idea().jobId!;
  mill.must({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'daemon-1' });
  const token = (mill.records.get(jobId) as Job).lease!.token;
  const fence = { projectId, subjectId: ideaId, jobId, token };
  const runId = `run_${mill.runs.size + 1}`;
  mill.must({ type: 'run.start', ...fence, runId, mode: 'ideate', agent: 'scripted' });
  mill.must({ type: 'idea.begin_reply', projectId, ideaId, jobId });
  return { runId, fence };
}
function finish({ runId, fence }: ReturnType<typeof begin>, ideation: object, more: object = {}): void {
  const envelope = AgentEnvelope.parse({ outcome: 'replied', summary: 's', ideation, ...more });
  mill.must({ type: 'run.finish', ...fence, runId, outcome: envelope.outcome, envelope, usage });
}
const reply = (signals: object = {}, more: object = {}) => finish(begin(), { reply: 'Go on.', signals, ...more });

const artifact = (type: string, confidence = 0.8) => ({ type, summary: `the ${type}`, content: '', confidence });

describe('the phases of an idea', () => {
  const kept = { correctedBy: null, at: 0 };
  const has = (...types: string[]) => types.map((type) => ({ ...artifact(type), ...kept }));
  const validated = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ id: `d${at}`, type: 'validation', text: `t${at}`, ...kept }));
  const nothing: Signals = { artifacts: [], decisions: [], risks: [], confidence: 0 };
  const risk = { id: 'r', text: 'r', severity: 'low' as const, ...kept };
  const shape = ['target-user', 'problem', 'solution-concept'];
  const scope = ['mvp-features', 'differentiator'];
  test.each<[IdeaPhase, Partial<Signals>, IdeaPhase | null]>([
    ['EXPLORING', {}, null],
    ['EXPLORING', { artifacts: has('target-user', 'problem'), confidence: 1 }, null],
    ['EXPLORING', { artifacts: has(...shape) }, 'NARROWING'],
    ['EXPLORING', { artifacts: has(...shape, ...scope, 'brief'), confidence: 1 }, 'NARROWING'],
    ['NARROWING', { artifacts: has('mvp-features') }, null],
    ['NARROWING', { artifacts: has(...scope).map((each) => ({ ...each, confidence: 0.6 })) }, null],
    ['NARROWING', { artifacts: has(...scope).map((each) => ({ ...each, confidence: 0.61 })) }, 'VALIDATING'],
    ['VALIDATING', { decisions: validated(3) }, null],
    ['VALIDATING', { decisions: validated(2), risks: [risk] }, null],
    ['VALIDATING', { decisions: [...validated(2), { ...validated(1)[0]!, type: 'decision' }], risks: [risk] }, null],
    ['VALIDATING', { decisions: validated(3), risks: [risk] }, 'REFINING'],
    ['REFINING', { confidence: 0.75 }, null],
    ['REFINING', { confidence: 0.76 }, 'COMPLETE'],
    ['REFINING', { artifacts: has('brief') }, 'COMPLETE'],
    ['COMPLETE', { artifacts: has('brief'), confidence: 1 }, null],
  ])('%s with %j leads to %s', (phase, signals, next) => {
    expect(phaseAfter(phase, { ...nothing, ...signals })).toBe(next);
  });

  it('advance one step with each reply, and the last one makes a brief', () => {
    create();
    const phases = [idea().phase];
    const steps = [
      { artifacts: ['target-user', 'problem', 'solution-concept'].map((type) => artifact(type)) },
      { artifacts: [artifact('mvp-features'), artifact('differentiator')] },
      { decisions: [1, 2, 3].map((at) => ({ type: 'validation', text: `seen ${at}` })), risks: ['fog'] },
      { confidence: 0.9 },
    ];
    for (const [at, signals] of steps.entries()) {
      if (at > 0) say('and now?');
      reply(signals);
      phases.push(idea().phase);
    }
    expect(phases).toEqual(['EXPLORING', 'NARROWING', 'VALIDATING', 'REFINING', 'COMPLETE']);
    expect(idea()).toMatchObject({ status: 'complete', jobId: null, messageCount: 8 });
    const brief = idea().artifacts.find(({ type }) => type === 'brief');
    expect(brief?.content).toMatch(/# A tide table for harbours[\s\S]*## Problem[\s\S]*seen 3[\s\S]*fog/);
    expect(ideaFiles(idea()).map(({ name }) => name)).toContain('brief.md');
    expect(mill.refusal({ type: 'idea.say', ...of, text: 'more' })).toBe('conflict');
    mill.must({ type: 'idea.archive', ...of });
    mill.must({ type: 'idea.resume', ...of });
    expect(idea()).toMatchObject({ status: 'complete', jobId: null });
  });

  it('take their questions with them: those of earlier phases, and at the end all but that about a search', () => {
    const asked: string[] = [];
    const ask = (sourceId: string, type: 'celebratory' | 'educational' | 'confirming') => {
      const questions = [
        { text: sourceId, type, context: '', options: [], defaultAnswer: null, allowFreeText: true, tags: [] },
      ];
      const about = { projectId, taskId: null, subjectId: ideaId, stage: idea().phase, agent: 'tidemill' };
      mill.must({ type: 'question.ask', ...about, source: 'catalogue', sourceId, effect: { kind: 'none' }, questions });
      asked.push(sourceId);
    };
    const open = () =>
      [...mill.records.values()].flatMap((row) =>
        row.noun === 'question' && row.status === 'open' ? [row.sourceId] : [],
      );
    create();
    reply({ artifacts: ['target-user', 'problem', 'solution-concept'].map((type) => artifact(type)) });
    ask('phase_complete/EXPLORING', 'celebratory');
    ask('idea_complexity_high', 'educational');
    ask('before_research/1', 'confirming');
    expect(open().toSorted()).toEqual(asked.toSorted());
    say('and now?');
    reply({ artifacts: [artifact('mvp-features'), artifact('differentiator')] });
    expect(open().toSorted()).toEqual(['before_research/1', 'idea_complexity_high']);
    ask('phase_complete/NARROWING', 'celebratory');
    say('and then?');
    reply({ decisions: [1, 2, 3].map((at) => ({ type: 'validation', text: `seen ${at}` })), risks: ['fog'] });
    expect(open().toSorted()).toEqual(['before_research/1', 'idea_complexity_high']);
    say('finish it');
    reply({ confidence: 0.9 });
    expect(idea().status).toBe('complete');
    expect(open()).toEqual(['before_research/1']);
  });

  it('wait for a blocking question, and the answer brings another reply', () => {
    create();
    const question = {
      text: 'Who?',
      type: 'blocking',
      context: '',
      options: [],
      allowFreeText: true,
      tags: [],
    } as const;
    const asker = { agent: 'tidemill', source: 'catalogue', sourceId: 'idea_created' } as const;
    const asked = { ...question, options: [], tags: [] };
    mill.must({
      type: 'question.ask',
      projectId,
      taskId: null,
      subjectId: ideaId,
      stage: '',
      ...asker,
      questions: [asked],
    });
    reply({ artifacts: ['target-user', 'problem', 'solution-concept'].map((type) => artifact(type)) });
    expect(idea()).toMatchObject({ phase: 'EXPLORING', jobId: null });
    const [found] = [...mill.records.values()].filter((record) => record.noun === 'question');
    const answer = { questionId: found!.id, by, source: 'user', text: 'Fishermen' } as const;
    mill.must({ type: 'question.answer', projectId, taskId: null, subjectId: ideaId, ...answer });
    expect(idea().jobId).not.toBeNull();
    reply();
    expect(idea().phase).toBe('NARROWING');
  });
});

describe('the conversation about an idea', () => {
  it('keeps who wrote what, and answers in the next reply what came during one', () => {
    create();
    const first = begin();
    mill.must({ type: 'idea.say', ...of, by: personActor('bob'), text: 'On a phone' });
    finish(first, { reply: 'For which people?' });
    expect(idea()).toMatchObject({ messageCount: 3, hasNews: true });
    expect(idea().jobId).not.toBe(first.fence.jobId);
    reply();
    expect([1, 2, 3, 4].map((number) => message(number).by.name)).toEqual(['ada', 'bob', 'scripted', 'scripted']);
    expect(idea()).toMatchObject({ jobId: null, hasNews: false, messageCount: 4, briefedUpTo: 3 });
  });

  it('is not complete while a message waits', () => {
    create();
    reply({ artifacts: ['target-user', 'problem', 'solution-concept'].map((type) => artifact(type)) });
    say('x');
    reply({ artifacts: [artifact('mvp-features'), artifact('differentiator')] });
    say('x');
    reply({ decisions: [1, 2, 3].map((at) => ({ type: 'validation', text: `seen ${at}` })), risks: ['fog'] });
    say('x');
    const last = begin();
    say('wait');
    finish(last, { reply: 'Done.', signals: { confidence: 0.9 } });
    expect(idea()).toMatchObject({ phase: 'REFINING', status: 'active' });
    reply();
    expect(idea()).toMatchObject({ phase: 'COMPLETE', status: 'complete', jobId: null });
  });

  it('survives a failed reply, and resume tries again', () => {
    create();
    const { runId, fence } = begin();
    mill.must({
      type: 'run.finish',
      ...fence,
      runId,
      outcome: 'failed',
      failure: 'agent_reported',
      message: 'no',
      envelope: null,
      usage,
    });
    for (let tries = 0; idea().jobId !== null && tries < 5; tries += 1) {
      mill.now += 3_600_000;
      const again = begin();
      const end = { outcome: 'failed', failure: 'agent_reported', message: 'no', envelope: null, usage } as const;
      mill.must({ type: 'run.finish', ...again.fence, runId: again.runId, ...end });
    }
    expect(idea()).toMatchObject({ jobId: null, hasNews: true, failure: 'no' });
    mill.must({ type: 'idea.resume', ...of });
    reply();
    expect(idea()).toMatchObject({ failure: null, hasNews: false });
    expect(mill.refusal({ type: 'idea.resume', ...of })).toBe('conflict');
  });

  it('pauses, resumes, is archived with its questions, and forks', () => {
    create();
    mill.must({ type: 'idea.pause', ...of });
    reply({ artifacts: [artifact('problem')] });
    expect(mill.refusal({ type: 'idea.say', ...of, text: 'x' })).toBe('conflict');
    mill.must({ type: 'idea.fork', ...of, forkId: 'idea_2', title: 'Another way' });
    expect(idea('idea_2')).toMatchObject({ number: 2, slug: '2-another-way', forkedFrom: { number: 1, upTo: 2 } });
    expect(idea('idea_2').artifacts).toMatchObject([{ type: 'problem' }]);
    mill.must({ type: 'idea.resume', ...of });
    say('go on');
    mill.must({ type: 'idea.archive', ...of });
    reply();
    expect(idea()).toMatchObject({ status: 'archived', jobId: null });
    expect(mill.refusal({ type: 'idea.archive', ...of })).toBe('conflict');
  });
});

describe('the signals of an idea', () => {
  it('that a person corrected win over later replies, and removed ones stay away', () => {
    create();
    reply({ artifacts: [artifact('problem'), artifact('differentiator')], decisions: ['Use a phone'], risks: ['Fog'] });
    const correct = {
      kind: 'artifact',
      type: 'problem',
      summary: 'Nobody knows the tide',
      content: '',
      confidence: 1,
    } as const;
    mill.must({ type: 'idea.correct', ...of, correction: correct });
    const [decision] = idea().decisions;
    const better = { kind: 'decision', id: decision!.id, type: 'decision', text: 'Use paper' } as const;
    mill.must({ type: 'idea.correct', ...of, correction: better });
    mill.must({ type: 'idea.correct', ...of, correction: { kind: 'confidence', value: 0.2 } });
    mill.must({ type: 'idea.remove_signal', ...of, kind: 'risk', key: idea().risks[0]!.id });
    mill.must({ type: 'idea.remove_signal', ...of, kind: 'artifact', key: 'differentiator' });
    say('and?');
    const again = [artifact('problem'), artifact('differentiator'), artifact('target-user')];
    reply({ artifacts: again, decisions: ['use a phone!', 'Sell it'], risks: ['  FOG '], confidence: 0.99 });
    expect(idea().artifacts.map(({ type, summary }) => [type, summary])).toEqual([
      ['problem', 'Nobody knows the tide'],
      ['target-user', 'the target-user'],
    ]);
    expect(idea().decisions.map(({ text }) => text)).toEqual(['Use paper', 'Sell it']);
    expect(idea()).toMatchObject({ risks: [], confidence: 0.2, confidenceBy: by });
    expect(mill.refusal({ type: 'idea.remove_signal', ...of, kind: 'artifact', key: 'differentiator' })).toBe(
      'not_found',
    );
  });

  it('that need research are asked for once, and its result brings a reply', () => {
    create();
    reply({}, { wantsResearch: ['Tide data', 'Tide data'] });
    expect(idea().research).toMatchObject({ areas: ['Tide data'], status: 'wanted' });
    const artifact = { summary: 's', content: 'found', confidence: 0.5 };
    mill.must({ type: 'idea.end_research', ...of, status: 'done', why: '', artifact });
    expect(idea().jobId).not.toBeNull();
    expect(mill.refusal({ type: 'idea.end_research', ...of, status: 'off', why: '', artifact: null })).toBe('conflict');
  });

  it('that are researched twice keep both results, and a removed one does not come back', () => {
    create();
    const search = (content: string) => {
      reply({}, { wantsResearch: [content] });
      const artifact = { summary: content, content, confidence: 0.5 };
      mill.must({ type: 'idea.end_research', ...of, status: 'done', why: '', artifact });
    };
    const found = () => idea().artifacts.map(({ type, content }) => `${type}: ${content}`);
    search('market');
    search('competitors');
    expect(found()).toEqual(['research: market', 'research-2: competitors']);
    mill.must({ type: 'idea.remove_signal', ...of, kind: 'artifact', key: 'research' });
    search('technology');
    expect(found()).toEqual(['research-2: competitors', 'research-3: technology']);
  });
});

test.each([
  ['A tide table. For harbours', 'A tide table'],
  ['# Title\n\nmore', 'Title'],
  ['جدول المد والجزر للموانئ', 'جدول المد والجزر للموانئ'],
  ['x'.repeat(200), `${'x'.repeat(80)}…`],
])('the title of an idea that says %j is %j', (text, title) => {
  expect(titleOf(text)).toBe(title);
});
