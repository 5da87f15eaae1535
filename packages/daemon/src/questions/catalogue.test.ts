import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { assetDir } from '../assets.ts';
import { loadCatalogue } from './catalogue.ts';
import { TRIGGER_NAMES, WIRED } from './trigger.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemill-questions-'));
  mkdirSync(join(root, '.tidemill/questions'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const load = () => loadCatalogue({ root, builtinDir: assetDir('prompts/questions') });
const write = (text: string, name = 'own.yaml') => writeFileSync(join(root, '.tidemill/questions', name), text);
const complaint = (text: string) => {
  write(text);
  try {
    load();
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
  return 'none';
};
const FAILED = { number: 7, title: 'The {error} wheel', error: 'it broke', runs: 3, tried: '- implement: crash' };

describe('the built-in catalogue', () => {
  test('has an entry for every trigger, and says whether something raises it', () => {
    const { lines } = load();
    expect(lines.map(({ trigger }) => trigger).sort()).toEqual([...TRIGGER_NAMES].sort());
    const asked = lines.filter(({ state }) => state === 'asked').map(({ trigger }) => trigger);
    expect(asked.sort()).toEqual(Object.keys(WIRED).sort());
    for (const { since, state } of lines) expect(since !== null).toBe(state === 'not built');
  });

  test('fills in the facts of the trigger, once, and says what an answer does', () => {
    const [raised] = load().raise('task_failed_repeatedly', FAILED);
    expect(raised?.question).toMatchObject({ type: 'blocking', tags: ['task_failed_repeatedly'], allowFreeText: true });
    expect(raised?.question.text).toMatch(/^#7 The \{error\} wheel is stuck: it broke/);
    expect(raised?.effect).toEqual({ kind: 'unblock', leaves: ['Keep it blocked', 'I will do it myself'] });
  });

  test('asks only when its condition holds', () => {
    const { raise } = load();
    const facts = { number: 1, title: 't', expected: '1 min', actual: '9 min' };
    expect(raise('task_complexity_exceeded', { ...facts, times: 2 })).toEqual([]);
    expect(raise('task_complexity_exceeded', { ...facts, times: 3 })).toMatchObject([
      { question: { type: 'educational' } },
    ]);
  });

  test('cuts what would make a question too long', () => {
    const [raised] = load().raise('task_failed_repeatedly', { ...FAILED, error: 'x'.repeat(1_000_000) });
    expect(raised!.question.text.length).toBeLessThan(20_000);
  });
});

describe('a project’s own questions', () => {
  test('replace the built-in ones of that trigger, or turn them off', () => {
    write('- trigger: validation_passed\n  enabled: false\n');
    write(
      '- trigger: milestone_reached\n  questions: [{ type: celebratory, text: "{done} done, {{really}}" }]\n',
      'b.yml',
    );
    const { raise, lines } = load();
    expect(raise('validation_passed', { number: 1, title: 't', gates: 1, checks: 'test' })).toEqual([]);
    const [milestone] = raise('milestone_reached', { name: '', done: 2, total: 3, percent: 66 });
    expect(milestone?.question.text).toBe('2 done, {really}');
    expect(lines.find(({ trigger }) => trigger === 'milestone_reached')?.file).toBe('.tidemill/questions/b.yml');
  });

  test.each([
    [
      '- { trigger: milestone_reach, enabled: false }',
      'own.yaml:1: [0].trigger: unknown trigger "milestone_reach"; did you mean "milestone_reached"?',
    ],
    ['- trigger: milestone_reached', 'needs questions'],
    [
      '- trigger: milestone_reached\n  questions: [{ type: loud, text: x }]',
      'own.yaml:2: [0].questions[0].type must be one of blocking',
    ],
    [
      '- trigger: milestone_reached\n  questions:\n    - { type: celebratory, text: "{count}" }',
      'own.yaml:3: there is no placeholder {count}; milestone_reached knows name, done, total, percent',
    ],
    [
      '- trigger: milestone_reached\n  when: [{ fact: luck, atLeast: 1 }]\n  questions: [{ type: celebratory, text: x }]',
      'there is no fact "luck"',
    ],
    [
      '- trigger: milestone_reached\n  when: [{ fact: done }]\n  questions: [{ type: celebratory, text: x }]',
      'needs atLeast or atMost',
    ],
    [
      '- trigger: milestone_reached\n  questions: [{ type: celebratory, text: x, effect: unblock }]',
      'unblock belongs to',
    ],
    ['- { trigger: milestone_reached, enabled: false, since: ideas }', 'for the shipped files alone'],
    ['- { trigger: idea_created, enabled: false }\n- { trigger: idea_created, enabled: false }', 'duplicate trigger'],
    ['trigger: milestone_reached', 'must be a list'],
  ])('are refused with the reason: %s', (text, message) => {
    expect(complaint(text)).toContain(message);
  });
});
