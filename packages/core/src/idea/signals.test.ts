import { type Idea, type IdeaCorrection, personActor } from '@tidemill/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { changesBy } from './signals.ts';

const ada = personActor('ada');
const of = { projectId: 'project_1', ideaId: 'idea_1', by: ada };
let mill: Mill;
beforeEach(() => {
  mill = new Mill();
  mill.must({ type: 'idea.create', ...of, text: 'A tide table for harbours' });
});

const idea = () => mill.records.get(of.ideaId) as Idea;
const correct = (correction: IdeaCorrection) => mill.must({ type: 'idea.correct', ...of, correction });
const refusal = (correction: IdeaCorrection) => mill.refusal({ type: 'idea.correct', ...of, correction });
const decision = (text: string, id?: string) =>
  ({ kind: 'decision', type: 'decision', text, ...(id === undefined ? {} : { id }) }) as const;
const risk = (text: string, id?: string) =>
  ({ kind: 'risk', severity: 'low', text, ...(id === undefined ? {} : { id }) }) as const;
const artifact = (type: string, summary: string, content = '') =>
  ({ kind: 'artifact', type, summary, content, confidence: 1 }) as const;

describe('a correction by a person', () => {
  test.each([decision, risk])('without an id adds a signal, with an id replaces that one (%o)', (of) => {
    const texts = () => [...idea().decisions, ...idea().risks].map(({ text }) => text);
    correct(of('Use a phone'));
    correct(of('Sell it'));
    expect(texts()).toEqual(['Use a phone', 'Sell it']);
    const [first] = [...idea().decisions, ...idea().risks];
    correct(of('Use paper', first!.id));
    expect(texts()).toEqual(['Use paper', 'Sell it']);
    expect([...idea().decisions, ...idea().risks][0]).toMatchObject({ id: first!.id, correctedBy: ada });
  });

  test('of a signal that does not exist is refused, also with the id of one of another kind', () => {
    expect(refusal(decision('x', 'decision_9'))).toBe('not_found');
    expect(refusal(risk('x', 'risk_9'))).toBe('not_found');
    correct(decision('Use a phone'));
    correct(risk('Fog'));
    expect(refusal(risk('x', idea().decisions[0]!.id))).toBe('not_found');
    expect(refusal(decision('x', idea().risks[0]!.id))).toBe('not_found');
    expect(idea()).toMatchObject({ decisions: [{ text: 'Use a phone' }], risks: [{ text: 'Fog' }] });
  });

  test('brings back what was removed, and keeps the words it replaced away', () => {
    correct(risk('Fog'));
    mill.must({ type: 'idea.remove_signal', ...of, kind: 'risk', key: idea().risks[0]!.id });
    expect(idea()).toMatchObject({ risks: [], removed: ['risk:fog'] });
    correct(risk('FOG!'));
    expect(idea()).toMatchObject({ risks: [{ text: 'FOG!' }], removed: [] });
    correct(risk('Storm', idea().risks[0]!.id));
    expect(idea().removed).toEqual(['risk:fog']);
    correct(risk('Storm', idea().risks[0]!.id));
    expect(idea().removed).toEqual(['risk:fog']);
  });

  test('of the confidence lasts until a person takes it back', () => {
    expect(mill.refusal({ type: 'idea.remove_signal', ...of, kind: 'confidence', key: '' })).toBe('not_found');
    correct({ kind: 'confidence', value: 0.2 });
    expect(idea()).toMatchObject({ confidence: 0.2, confidenceBy: ada });
    mill.must({ type: 'idea.remove_signal', ...of, kind: 'confidence', key: '' });
    expect(idea()).toMatchObject({ confidence: 0.2, confidenceBy: null });
  });

  test.each([
    ['artifact', 'brief'],
    ['decision', 'decision_9'],
    ['risk', 'risk_9'],
  ] as const)('removes no %s that does not exist', (kind, key) => {
    expect(mill.refusal({ type: 'idea.remove_signal', ...of, kind, key })).toBe('not_found');
  });
});

describe('a reply', () => {
  const env = { now: 7, newId: (kind: string) => `${kind}_new`, hash: (text: string) => text } as never;
  const said = (signals: object) =>
    changesBy(idea(), { signals: { artifacts: [], decisions: [], risks: [], ...signals } } as never, env);
  const one = (text: string) => ({ type: 'decision', text });

  test('adds the same statement once, also in other spelling', () => {
    correct(decision('Use a phone'));
    const { decisions } = said({ decisions: [one('use a PHONE.'), one('Sell it'), one(' sell it! ')] });
    expect(decisions.map(({ text }) => text)).toEqual(['Sell it']);
    expect(decisions[0]).toMatchObject({ correctedBy: null, at: 7 });
  });

  test('adds at most a hundred signals of a kind', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => one(`decision ${at}`));
    correct(decision('Use a phone'));
    expect(said({ decisions: many(150) }).decisions).toHaveLength(99);
    const artifacts = Array.from({ length: 150 }, (_, at) => ({ ...artifact(`type-${at}`, 's'), kind: undefined }));
    expect(said({ artifacts }).artifacts).toHaveLength(100);
  });

  test('keeps the words of an artifact that it leaves empty, and does not touch one that a person wrote', () => {
    correct(artifact('problem', 'Nobody knows the tide'));
    expect(said({ artifacts: [artifact('problem', 'other')] }).artifacts).toEqual([]);
    const twice = [artifact('scope', 'small', 'one harbour'), artifact('scope', '', '')];
    expect(said({ artifacts: twice }).artifacts).toMatchObject([{ summary: 'small', content: 'one harbour' }]);
  });
});
