import { type NotifySettings, type Question, type QuietHours, Severity } from '@tidemill/contract';

const DAY_MINUTES = 24 * 60;
const MINUTE = 60_000;

/** The same matter is not sent again within this time. */
export const SAME_MATTER_MS = 5 * MINUTE;
/** A notice waits this long for others of its group. A critical one does not wait. */
export const GATHER_MS = 3000;

const rank = (severity: Severity) => Severity.options.indexOf(severity);

export const isAtLeast = (severity: Severity, least: Severity) => rank(severity) >= rank(least);

/** Names of the channels that get messages of this severity. */
export function channelsFor({ channels, notify }: NotifySettings, severity: Severity): string[] {
  if (!isAtLeast(severity, notify.minSeverity)) return [];
  const names = notify.channels[severity] ?? Object.keys(channels);
  return names.filter((name) => name in channels);
}

export function severityOf({ type, holds }: Pick<Question, 'type' | 'holds'>): Severity {
  if (holds || type === 'blocking') return 'error';
  return type === 'clarifying' || type === 'confirming' ? 'warning' : 'info';
}

/** True for what is sent in quiet hours too: critical alerts, and questions that hold work up. Reminders are not. */
export function isUrgent({ severity, about }: { severity: Severity; about: string }): boolean {
  return severity === 'critical' || (severity === 'error' && about.startsWith('question/'));
}

/** When the current quiet hours end; null outside quiet hours. */
export function quietUntil({ from, to, timeZone }: QuietHours, now: number): number | null {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const minuteOfDay = (at: number) => minutesOf(format.format(at));
  const start = minutesOf(from);
  const length = (minutesOf(to) - start + DAY_MINUTES) % DAY_MINUTES;
  const sinceStart = (minuteOfDay(now) - start + DAY_MINUTES) % DAY_MINUTES;
  if (sinceStart >= length) return null;
  const left = (at: number) => {
    const minutes = (minutesOf(to) - minuteOfDay(at) + DAY_MINUTES) % DAY_MINUTES;
    return minutes > DAY_MINUTES / 2 && at !== now ? minutes - DAY_MINUTES : minutes;
  };
  const wholeMinute = now - (now % MINUTE);
  const end = wholeMinute + left(now) * MINUTE;
  // The zone's clocks may change in between.
  return end + left(end) * MINUTE;
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
