import {
  type AccountView,
  type MetricFigures,
  ProjectStatus,
  progressWords,
  type WorkerView,
} from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { SEEN_NOTHING, type Seen } from '../connection/seen.ts';
import { cardOf } from './card.ts';
import { impactText } from './impact.ts';
import { parseRequest } from './messages.ts';
import { overviewOf } from './overview.ts';
import { pageOf } from './page.ts';

const worker = (more: Partial<WorkerView> = {}): WorkerView => ({
  name: 'agent-1',
  role: 'builder',
  isOutside: false,
  task: null,
  elapsedMs: 0,
  mode: null,
  progress: null,
  runMs: null,
  usualMs: null,
  status: 'idle',
  health: 'healthy',
  desired: 'running',
  desiredBy: '',
  lastBeatAt: null,
  memoryMb: 0,
  cpuPercent: 0,
  errors: 0,
  tasksCompleted: 0,
  lastError: null,
  ...more,
});
const TASK = { number: 7, title: 'Sort the list', stage: 'implement' };
const FIGURES: MetricFigures = {
  completed: 4,
  cycleTimeMs: 125_000,
  firstReviewPassRate: 0.75,
  errors: 2,
  errorRate: 0.5,
  costUsd: 3.2,
  costPerTaskUsd: 0.8,
  uptime: 0.42,
};
const account = (spentDay: number, spentMonth: number): AccountView => ({
  projectId: 'p',
  name: 'mill',
  limits: { dailyUsd: 50, monthlyUsd: 500 },
  timeZone: 'UTC',
  daily: { spentUsd: spentDay, reservedUsd: 0, percent: 0, forecastUsd: 0 },
  monthly: { spentUsd: spentMonth, reservedUsd: 0, percent: 0, forecastUsd: 0 },
  stopped: null,
});
const status = (more: Partial<ProjectStatus> = {}): ProjectStatus =>
  ProjectStatus.parse({
    project: { id: 'p', name: 'mill', root: '/mill', target: 'main' },
    daemon: null,
    running: true,
    idle: false,
    tasks: {},
    total: 0,
    workers: [],
    needsYou: [],
    gates: [],
    sandbox: { active: true, text: '' },
    lastSeq: 1,
    ...more,
  });
const seen = (more: Partial<Seen> = {}): Seen => ({
  ...SEEN_NOTHING,
  state: 'ready',
  isLive: true,
  status: status(),
  ...more,
});
const shown = (more: Partial<Seen>, options = {}) =>
  overviewOf(seen(more), { maxWorkers: 3, isTrusted: true, ...options });

describe('the card of an agent', () => {
  test('says what the agent does, since when and how far it is', () => {
    const todo = [
      { text: 'read', status: 'done' as const },
      { text: 'write', status: 'active' as const },
      { text: 'test', status: 'pending' as const },
      { text: 'tidy', status: 'pending' as const },
    ];
    const progress = { percent: null, text: '', turns: { used: 3, limit: 200 }, tools: null, todo };
    const card = cardOf(worker({ status: 'working', task: TASK, elapsedMs: 60_000, progress }), undefined, 100_000);
    expect(card).toMatchObject({
      status: 'working',
      task: { number: 7, title: 'Sort the list' },
      doing: 'implement',
      since: 40_000,
      progress: { percent: 25, text: '1 of 4 steps · 25 % · turn 3 of 200 · write' },
    });
  });

  test('counts the criteria that a reviewer has judged, in the words of the page', () => {
    const steps = [
      ['Read the change', 'done'],
      ['C1 sorts numbers', 'done'],
      ['AC-1.2.b: an empty list stays empty', 'done'],
      ['C3', 'pending'],
    ] as const;
    const todo = steps.map(([text, status]) => ({ text, status }));
    const progress = { percent: 75, text: '', turns: null, tools: null, todo };
    expect(cardOf(worker({ task: TASK, progress }), undefined, 0).progress?.text).toBe('2 of 3 criteria · 75 %');
    expect(progressWords(progress)).toBe('2 of 3 criteria');
    const words = ['C++ is compiled', 'AC power', 'C1-style'].map((text) => ({ text, status: 'done' as const }));
    expect([progressWords({ ...progress, todo: words }), progressWords({ ...progress, todo: [] })]).toEqual([
      '3 of 3 steps',
      '75 %',
    ]);
  });

  test('of a crashed agent shows the error and offers to restart it', () => {
    const card = cardOf(worker({ status: 'crashed', errors: 1, lastError: 'killed by SIGSEGV' }), undefined, 0);
    expect(card).toMatchObject({ isCrashed: true, error: 'killed by SIGSEGV' });
    expect(card.buttons.map(({ label }) => label)).toEqual(['Restart', 'Stop']);
  });

  test.each([
    ['running', ['Pause', 'Stop']],
    ['paused', ['Resume', 'Stop']],
    ['frozen', ['Resume', 'Stop']],
    ['stopped', ['Start']],
  ] as const)('of a %s agent has the buttons %j', (desired, labels) => {
    expect(cardOf(worker({ desired }), undefined, 0).buttons.map(({ label }) => label)).toEqual(labels);
  });

  test('of a paused agent that still works says so', () => {
    expect(cardOf(worker({ task: TASK, desired: 'paused' }), undefined, 0).doing).toBe(
      'implement, pauses after this stage',
    );
  });

  test('has all figures, with a grade in words where there is one', () => {
    const { figures } = cardOf(worker(), FIGURES, 0);
    expect(figures.map(({ name, value, grade }) => [name, value, grade])).toEqual([
      ['Tasks done', '4', null],
      ['Cycle time', '2 min', null],
      ['First review passed', '75 %', 'fair'],
      ['Errors', '2, 0.50 per task', 'fair'],
      ['Cost', '$3.20', null],
      ['Cost per task', '$0.80', null],
      ['Utilisation', '42 %', null],
    ]);
  });
});

describe('the header of the fleet view', () => {
  test('counts agents by what they do', () => {
    const workers = [
      worker({ status: 'working' }),
      worker({ name: 'agent-2', status: 'paused' }),
      worker({ name: 'agent-3', status: 'crashed' }),
      worker({ name: 'review-agent', role: 'reviewer', status: 'reviewing' }),
      worker({ name: 'merger', role: 'merger', status: 'working' }),
    ];
    const { counts, cards } = shown({ status: status({ workers }) });
    expect(counts).toBe('4 agents · 2 active · 1 paused · 0 stopped · 1 crashed');
    expect(cards).toHaveLength(4);
  });

  test.each([
    [12.345, '$12.35 of $50 (24.7 %)', 'calm'],
    [38, '$38.00 of $50 (76.0 %)', 'warning'],
    [46, '$46.00 of $50 (92.0 %)', 'critical'],
  ])('shows $%d of the day with its limit', (spent, text, look) => {
    const budget = { project: account(spent, 100), all: account(spent, 100) };
    const { spend } = shown({ status: status({ budget }) });
    expect(spend[0]).toMatchObject({ label: 'Today', text, look });
    expect(spend[1]).toMatchObject({ label: 'This month', text: '$100.00 of $500 (20.0 %)' });
  });

  test('figures that could not be read again stay, with their time', () => {
    const metrics = { period: '24h' as const, computedAt: 0, isStale: false, workers: [], total: FIGURES, flakes: [] };
    expect(shown({ metrics }).figuresFrom).toBeNull();
    const old = shown({ metrics, isMetricsOld: true });
    expect(old.figuresFrom).toMatch(/^\d\d:\d\d:\d\d$/);
    expect(old.total).toHaveLength(7);
  });
});

describe('the banners of the fleet view', () => {
  const texts = (more: Partial<Seen>, options = {}) => shown(more, options).banners.map(({ text }) => text);

  test('a lost stream is said while changes are polled', () => {
    expect(texts({ isLive: false })).toEqual(['No live connection. Changes are shown every few seconds.']);
    expect(texts({ isLive: true })).toEqual([]);
  });

  test.each([
    ['no_repository', 'Open folder'],
    ['no_daemon', 'Start'],
    ['no_project', 'Start'],
  ] as const)('without a project (%s) the next step is a button', (state, label) => {
    const { banners, cards } = shown({ state });
    expect(banners[0]?.action?.label).toBe(label);
    expect(cards).toEqual([]);
  });

  test('an untrusted workspace shows everything and offers nothing but the emergency stop', () => {
    const overview = shown({ status: status({ workers: [worker({ task: TASK })] }) }, { isTrusted: false });
    expect(overview).toMatchObject({ canAct: false, canAdd: false, canStop: true });
    expect(overview.cards[0]).toMatchObject({ task: { number: 7 }, buttons: [] });
    expect(overview.banners[0]?.action?.command).toBe('workbench.trust.manage');
  });

  test('an agent can be added up to the number in the settings', () => {
    const workers = [worker(), worker({ name: 'agent-2' }), worker({ name: 'agent-3' })];
    expect(shown({ status: status({ workers: workers.slice(1) }) }).canAdd).toBe(true);
    expect(shown({ status: status({ workers }) }).canAdd).toBe(false);
  });
});

test('the emergency stop names every agent and task that it ends', () => {
  const busy = [1, 2, 3].map((at) => ({
    project: 'mill',
    worker: `agent-${at}`,
    number: 41 + at,
    title: `Task ${at}`,
  }));
  const deliveries = [{ project: 'mill', ref: 'D3', environment: 'production' }];
  const text = impactText({ busy, workers: 3, deliveries });
  expect(text).toContain('D3 to production (mill) is stopped and rolled back');
  expect(impactText({ busy: [], workers: 3, deliveries })).toContain('D3 to production');
  expect(text).toContain('This stops 3 working agents:');
  for (const { worker: name, number, title } of busy) expect(text).toContain(`${name} on #${number} ${title} (mill)`);
  expect(impactText(null)).toContain('You can still stop everything.');
});

test('the fleet view takes only its own messages, and runs only its own commands', () => {
  expect(parseRequest({ type: 'command', command: 'tidemill.pauseAll' })).not.toBeNull();
  expect(parseRequest({ type: 'worker', worker: 'agent-1', operation: 'pause' })).not.toBeNull();
  for (const wrong of [
    null,
    'ready',
    { type: 'command', command: 'workbench.action.terminal.sendSequence' },
    { type: 'worker', worker: 'agent-1', operation: 'constructor' },
    { type: 'task', number: 1.5 },
    { type: 'else' },
  ])
    expect(parseRequest(wrong)).toBeNull();
});

test('the page of the fleet view allows its own script and nothing else', () => {
  const page = pageOf({
    csp: 'https://own',
    nonce: 'n0',
    script: 'https://own/fleet.js',
    style: 'https://own/fleet.css',
  });
  const policy = /content="([^"]+)"/.exec(page)?.[1];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'nonce-n0'");
  expect(page).not.toMatch(/unsafe|<style|style="| on[a-z]+="/);
});
