import { NotifyConfig, type NotifySettings } from '@tidemill/contract';
import { describe, expect, it } from 'vitest';
import { channelsFor, isUrgent, quietUntil, severityOf } from './routing.ts';

const channels = { desk: { type: 'desktop' }, term: { type: 'terminal' } } satisfies NotifySettings['channels'];
const settings = (notify: object): NotifySettings => ({ channels, notify: NotifyConfig.parse(notify) });

describe('the choice of channels for a message', () => {
  it.each([
    ['all of them by default', {}, 'info', ['desk', 'term']],
    ['none below the least severity', { minSeverity: 'error' }, 'warning', []],
    ['from the least severity on', { minSeverity: 'error' }, 'error', ['desk', 'term']],
    ['those named for the severity', { channels: { critical: ['term'] } }, 'critical', ['term']],
    ['all, for a severity without an entry', { channels: { critical: ['term'] } }, 'error', ['desk', 'term']],
    ['none, when the list is empty', { channels: { info: [] } }, 'info', []],
  ] as const)('is right in the case: %s', (_, notify, severity, expected) => {
    expect(channelsFor(settings(notify), severity)).toEqual(expected);
  });
});

describe('in quiet hours', () => {
  it.each([
    ['critical', 'alert/x', true],
    ['error', 'question/x', true],
    ['error', 'reminder/x', false],
    ['error', 'alert/x', false],
    ['warning', 'question/x', false],
  ] as const)('a message of severity %s about %s is sent at once: %s', (severity, about, expected) => {
    expect(isUrgent({ severity, about })).toBe(expected);
  });

  it('a question that holds a task has the severity error, whatever its type', () => {
    expect(severityOf({ type: 'clarifying', holds: true })).toBe('error');
    expect(severityOf({ type: 'clarifying', holds: false })).toBe('warning');
    expect(severityOf({ type: 'celebratory', holds: false })).toBe('info');
  });
});

describe('the end of quiet hours', () => {
  const night = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
  it.each([
    ['before midnight', '2026-06-10T21:30:00Z', '2026-06-11T05:00:00Z'],
    ['after midnight', '2026-06-11T02:15:30Z', '2026-06-11T05:00:00Z'],
    ['their first minute', '2026-06-10T20:00:00Z', '2026-06-11T05:00:00Z'],
    ['the minute after them', '2026-06-11T05:00:00Z', null],
    ['by day', '2026-06-11T12:00:00Z', null],
    ['clocks go back in that night', '2026-10-24T21:00:00Z', '2026-10-25T06:00:00Z'],
    ['clocks go forward in that night', '2026-03-28T22:00:00Z', '2026-03-29T05:00:00Z'],
  ])('is right in the case: %s', (_, now, until) => {
    expect(quietUntil(night, Date.parse(now))).toBe(until === null ? null : Date.parse(until));
  });

  it('is on the same day when they lie within one day', () => {
    const lunch = { from: '12:00', to: '13:30', timeZone: 'UTC' };
    expect(quietUntil(lunch, Date.parse('2026-06-11T13:00:00Z'))).toBe(Date.parse('2026-06-11T13:30:00Z'));
    expect(quietUntil(lunch, Date.parse('2026-06-11T11:59:59Z'))).toBeNull();
  });

  it('does not exist when they begin and end at the same time', () => {
    expect(quietUntil({ from: '08:00', to: '08:00', timeZone: 'UTC' }, 0)).toBeNull();
  });
});
