import type { MetricPeriod } from '@tidemill/contract';

/** By number: 0 is the most urgent, 2 the default. */
export const PRIORITY = ['critical', 'high', 'normal', 'low', 'lowest'] as const;

export const stageText = (name: string) => name.replaceAll('_', ' ');

export const plural = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** `$1.24`; amounts below a cent are `<$0.01`. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return '<$0.01';
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** `$50` rather than `$50.00`: limits are round. */
export const limit = (usd: number) => (Number.isInteger(usd) ? `$${usd.toLocaleString('en-US')}` : money(usd));

export const percent = (part: number) => `${Math.round(part * 100)} %`;

/** `16 Nov, 14:05:09`; without the date if it is today. */
export function timeOf(at: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString('en-GB');
  if (date.toDateString() === new Date().toDateString()) return time;
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${time}`;
}

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g;

/** Shows ISO times in the daemon's texts in the reader's time zone. */
export const withTimes = (text: string) => text.replace(ISO_TIME, (time) => timeOf(Date.parse(time)));

export const PERIOD_TEXT: Record<MetricPeriod, string> = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' };
