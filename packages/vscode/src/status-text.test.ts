import type { ProjectStatus, WorkerView } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { iconOf, timeOf } from './activity/line.ts';
import { SEEN_NOTHING, type Seen } from './connection/seen.ts';
import { statusTextOf } from './status-text.ts';
import { elapsed, limit, money, plural } from './words.ts';

const seen = (inbox: number, statuses: WorkerView['status'][], more: Partial<Seen> = {}): Seen => ({
  ...SEEN_NOTHING,
  state: 'ready',
  isLive: true,
  status: { running: true, inbox, workers: statuses.map((status) => ({ status })) } as ProjectStatus,
  ...more,
});

test.each([
  [seen(0, ['idle']), '$(check) Tidemill', 'Tidemill: no agent working'],
  [seen(0, ['working', 'reviewing']), '$(sync~spin) 2 working', 'Tidemill: 2 agents working'],
  [seen(1, ['working']), '$(bell-dot) 1 needs you', 'Tidemill: 1 needs you, 1 agent working'],
  [seen(3, ['crashed']), '$(bell-dot) 3 need you', 'Tidemill: 3 need you, no agent working, 1 crashed'],
  [seen(0, [], { isLive: false }), '$(check) Tidemill', 'Tidemill: no agent working, no live connection'],
])('the status bar says what needs the person', (given, text, tooltip) => {
  expect(statusTextOf(given)).toMatchObject({ text, tooltip });
});

test.each([
  ['no_daemon', 'tidemill.start'],
  ['no_project', 'tidemill.start'],
  ['no_repository', 'tidemill.fleet.focus'],
  ['looking', 'tidemill.fleet.focus'],
] as const)('without a project (%s) the status bar leads to the next step', (state, command) => {
  expect(statusTextOf({ ...SEEN_NOTHING, state }).command).toBe(command);
});

test('times, amounts and plurals are put into words', () => {
  expect([elapsed(900), elapsed(61_000), elapsed(7_500_000), elapsed(90_000_000)]).toEqual([
    '0 s',
    '1 min',
    '2 h 5 min',
    '1 d 1 h',
  ]);
  expect([money(0), money(0.004), money(1234.5), limit(50), limit(2.5)]).toEqual([
    '$0.00',
    '<$0.01',
    '$1,234.50',
    '$50',
    '$2.50',
  ]);
  expect([plural(1, 'task'), plural(0, 'task')]).toEqual(['1 task', '0 tasks']);
});

test('a line of the activity has a time and an icon', () => {
  const noon = new Date(2026, 10, 17, 12, 5, 9).getTime();
  expect(timeOf(noon, noon)).toBe('12:05:09');
  expect(timeOf(noon, noon + 2 * 86_400_000)).toBe('17 Nov, 12:05:09');
  expect([iconOf('worker.crashed'), iconOf('worker.added'), iconOf('spec.written')]).toEqual([
    'error',
    'person',
    'pulse',
  ]);
});
