import {
  type Answer,
  ENGINE,
  type Evidence,
  type FailureClass,
  personActor,
  Question,
  type QuestionSource,
  type QuestionType,
} from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { receipt } from '../../../../test/support/mill.ts';
import { APPROVE } from '../question/effect.ts';
import { drawTrace, type EventFacts } from './of-event.ts';

const ada = personActor('ada');
const none: EventFacts = {
  run: null,
  question: null,
  gateOutput: '',
  isFlake: false,
  isRejection: false,
  hash: (text) => text,
};
const blank = {
  ...{ noun: 'question', id: 'q', projectId: 'p', taskId: 't', runId: null, sourceId: 's', agent: 'a', stage: 'plan' },
  ...{ text: 'Which store?', context: '', options: [], allowFreeText: true, defaultAnswer: null, tags: [] },
  ...{ holds: false, fingerprint: 'f', batchId: 'b', askedAt: 1, remindAt: null, remindEveryMs: null, reminders: 0 },
  ...{ expiresAt: null, status: 'open', answer: null },
};
const question = (fields: object = {}): Question =>
  Question.parse({ ...blank, type: 'clarifying', source: 'execute', ...fields });
const asked = (fields: object = {}) =>
  drawTrace({ type: 'question.asked', taskId: 't', question: question(fields) } as never, none);
const answered = (fields: object, given: Partial<Answer> = {}) => {
  const answer: Answer = { text: 'SQLite', option: null, source: 'user', by: ada, at: 2, ...given };
  const body = { type: 'question.answered', taskId: 't', questionId: 'q', answer };
  return drawTrace(body as never, { ...none, question: question(fields) });
};

describe('a question', () => {
  test.each<[QuestionType, boolean]>([
    ['blocking', true],
    ['clarifying', true],
    ['confirming', true],
    ['preference', true],
    ['educational', false],
    ['celebratory', false],
  ])('that is %s leaves a trace when it is asked and when it is answered: %s', (type, isTold) => {
    expect(asked({ type }) !== null).toBe(isTold);
    expect(answered({ type }) !== null).toBe(isTold);
  });

  test.each<[QuestionSource, string]>([
    ['engine', 'engine'],
    ['supervisor', 'engine'],
    ['catalogue', 'engine'],
    ['execute', 'agent'],
    ['plan', 'agent'],
    ['eval', 'agent'],
    ['prd', 'agent'],
  ])('from %s is traced to the %s', (source, from) => {
    expect(asked({ source })).toMatchObject({ type: 'question', source: from, key: 'question:f', why: null });
  });
});

describe('an answer', () => {
  const options = [{ label: 'SQLite', recommended: true }, { label: 'Postgres' }];
  test.each<[string, object, Partial<Answer>, object]>([
    ['without an expected one is a decision', {}, {}, { type: 'decision', source: 'person', correct: 'SQLite' }],
    ['like the default is a decision', { defaultAnswer: ' sqlite' }, {}, { type: 'decision', why: null }],
    [
      'by the label of the default is a decision',
      { defaultAnswer: 'SQLite' },
      { text: 's', option: 'sqlite' },
      { type: 'decision' },
    ],
    [
      'against the default is a correction',
      { defaultAnswer: 'Files' },
      {},
      { type: 'correction', why: 'The default was: Files' },
    ],
    [
      'against the recommended option is a correction',
      { options },
      { text: 'Postgres' },
      { type: 'correction', why: 'The default was: SQLite' },
    ],
    [
      'that nobody gave is a decision of the engine',
      { defaultAnswer: 'Files' },
      { source: 'timeout' },
      { type: 'decision', source: 'engine' },
    ],
    [
      'that does not approve is a correction',
      { effect: { kind: 'approval', matters: [], sendBackTo: 'plan' } },
      {},
      { type: 'correction', what: 'Not approved: Which store?' },
    ],
  ])('%s', (_, fields, given, expected) => {
    expect(answered(fields, given)).toMatchObject(expected);
  });

  test('that approves leaves its trace with the approval only', () => {
    expect(answered({ effect: { kind: 'approval', matters: [], sendBackTo: 'plan' } }, { option: APPROVE })).toBeNull();
  });
});

describe('a gate', () => {
  const evidence = (fields: Partial<Evidence> = {}) => ({ ...receipt('test', 'tree', 'fail'), ...fields }) as Evidence;
  const gate = (fields: Partial<Evidence> = {}, facts: Partial<EventFacts> = {}) =>
    drawTrace({ type: 'evidence.recorded', evidence: evidence(fields) } as never, { ...none, ...facts });

  test('that failed is told with its output, and without output with its command and counts', () => {
    expect(gate({}, { gateOutput: '1 != 2' })).toMatchObject({
      what: 'Gate test failed with exit code 1.\n1 != 2',
      key: 'gate:test:gate\n# != #',
      why: 'run test',
    });
    const counts = { passed: 3, failed: 2, skipped: 0 };
    expect(gate({ counts, exitCode: null })).toMatchObject({ what: 'Gate test failed, 2 of 5 failed.' });
    expect(gate()?.key).not.toBe(gate({ command: 'another' })?.key);
  });

  test('that passed, could not be verified, only warns or passed when it ran again is not told', () => {
    expect(gate({ status: 'pass' })).toBeNull();
    expect(gate({ status: 'unverified' })).toBeNull();
    expect(gate({ severity: 'warn' })).toBeNull();
    expect(gate({}, { isFlake: true })).toBeNull();
  });
});

describe('a run that failed', () => {
  test.each<[FailureClass, boolean]>([
    ['no_result', true],
    ['timeout', true],
    ['refused', true],
    ['validation', true],
    ['crash', false],
    ['network', false],
    ['rate_limit', false],
    ['overloaded', false],
    ['auth', false],
    ['credit', false],
    ['workspace', false],
    ['spawn', false],
    ['unverified_gate', false],
    ['budget_limit', false],
  ])('of %s says something about the work: %s', (failure, isTold) => {
    const body = { type: 'run.finished', runId: 'r', outcome: 'failed', failure, message: 'm', envelope: null };
    expect(drawTrace(body as never, none) !== null).toBe(isTold);
  });
});

describe('a task', () => {
  test.each([
    ['validation', true],
    ['review_cycles', true],
    ['conflict', false],
    ['unverified_gate', false],
    ['no_transition', false],
    ['no_criteria', false],
    ['skipped', false],
  ])('that is blocked by %s says something about the work: %s', (reason, isTold) => {
    const body = { type: 'task.blocked', taskId: 't', reason, text: 'why' };
    expect(drawTrace(body as never, none) !== null).toBe(isTold);
  });

  test('that moves leaves a trace only when a person approved it', () => {
    const moved = (because: string) =>
      drawTrace({ type: 'task.moved', taskId: 't', from: 'plan_review', to: 'implement', because } as never, none);
    expect(moved('approved by ada')).toMatchObject({ type: 'approval', key: 'approved:plan_review' });
    expect(moved('plan_complete')).toBeNull();
  });

  test('with a note leaves a trace of a person, and a correction when the work was sent back', () => {
    const noted = (fields: object, isRejection = false) => {
      const entry = { source: 'person', entryType: 'note', summary: 'mind the gap', by: ada, ...fields };
      return drawTrace({ type: 'task.noted', taskId: 't', entry } as never, { ...none, isRejection });
    };
    expect(noted({})).toMatchObject({ type: 'note', what: 'mind the gap', by: ada, correct: null });
    expect(noted({}, true)).toMatchObject({ type: 'correction', correct: 'mind the gap' });
    expect(noted({ source: 'engine' })).toBeNull();
    expect(noted({ entryType: 'decision' })).toBeNull();
  });
});

test.each(['proposal.accepted', 'proposal.refused'])('%s is traced for a person, not for the engine', (type) => {
  const trace = (by: object) => drawTrace({ type, proposalId: 'x', number: 1, why: 'w', by } as never, none);
  expect(trace(ada)).toMatchObject({ source: 'person', by: ada });
  expect(trace(ENGINE)).toBeNull();
});

test('what was approved is named: matters, changed checks, dropped lines, a pull request', () => {
  const approved = (fields: object) =>
    drawTrace({ type: 'task.matter_approved', taskId: 't', matters: [], by: ada, ...fields } as never, none)?.what;
  expect(approved({ matters: ['newDependencies'], checks: 'c', losses: ['l'], pull: 'p' })).toBe(
    'Approved: newDependencies, changed checks, dropped lines, its pull request',
  );
  expect(approved({})).toBe('Approved: the plan');
});

test.each([
  [{ artifact: { type: 'problem', summary: 'fog' } }, 'Corrected problem of an idea', 'fog'],
  [{ decision: { text: 'paper' } }, 'Corrected a decision of an idea', 'paper'],
  [{ risk: { text: 'storm' } }, 'Corrected a risk of an idea', 'storm'],
  [{ confidence: 1 }, 'Corrected the confidence of an idea', null],
])('a correction of an idea, %j, is told', (fields, what, correct) => {
  const body = { type: 'idea.corrected', ideaId: 'i', artifact: null, decision: null, risk: null, confidence: null };
  expect(drawTrace({ ...body, by: ada, ...fields } as never, none)).toMatchObject({
    type: 'correction',
    what,
    correct,
  });
});

test('an event that is not worth a trace leaves none', () => {
  expect(drawTrace({ type: 'worker.beat' } as never, none)).toBeNull();
});
