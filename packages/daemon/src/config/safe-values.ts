import { BudgetLimits, MAX_WORKERS } from '@tidemill/contract';
import type { Path } from './document.ts';

/** An invalid value that is replaced by a safe one with a warning. It does not prevent a start. */
export interface Replacement {
  path: Path;
  text: string;
}

const { dailyUsd, monthlyUsd } = BudgetLimits.shape;

/** `categories`: those of the loop that exist. The file's content with safe values in place of impossible ones. Everything else is checked later. */
export function withSafeValues(
  content: unknown,
  categories: readonly string[],
): { content: unknown; replaced: Replacement[] } {
  if (!isMapping(content)) return { content, replaced: [] };
  const replaced: Replacement[] = [];
  const safe = { ...content };
  const put = (owner: Record<string, unknown>, path: Path, value: unknown, why: string) => {
    const key = String(path.at(-1));
    replaced.push({ path, text: `${path.join('.')} is ${show(owner[key])}; ${why}` });
    if (value === undefined) delete owner[key];
    else owner[key] = value;
  };
  const workers = safe.workers === undefined ? null : workersFault(safe.workers);
  if (workers) put(safe, ['workers'], workers.value, workers.why);
  if (isMapping(safe.budget)) {
    const budget: Record<string, unknown> = { ...safe.budget };
    safe.budget = budget;
    for (const [key, schema] of Object.entries({ dailyUsd, monthlyUsd })) {
      if (budget[key] === undefined || schema.safeParse(budget[key]).success) continue;
      const usual = schema.parse(undefined);
      put(budget, ['budget', key], undefined, `it is more than 0 and at most 1,000,000 USD, so ${usual} USD holds`);
    }
    const zone = budget.timeZone;
    if (zone !== undefined && !isTimeZone(zone))
      put(budget, ['budget', 'timeZone'], undefined, 'there is no such time zone, so the machine’s own holds');
  }
  if (isMapping(safe.loop) && Array.isArray(safe.loop.categories)) {
    const loop: Record<string, unknown> = { ...safe.loop };
    safe.loop = loop;
    const given: unknown[] = loop.categories as unknown[];
    const unknown = given.filter((name) => typeof name === 'string' && !categories.includes(name));
    const known = given.filter((name) => !unknown.includes(name));
    if (unknown.length > 0)
      put(loop, ['loop', 'categories'], known.length > 0 ? known : undefined, unknownText(unknown, known.length));
    // None is left: the loop stays off rather than using what nobody chose.
    if (known.length === 0) loop.enabled = false;
  }
  return { content: safe, replaced };
}

const unknownText = (unknown: unknown[], known: number) =>
  `there is no category ${unknown.join(', ')}, so ${known > 0 ? 'only the others are used' : 'the loop is off'}`;

function workersFault(given: unknown): { value: number; why: string } | null {
  if (typeof given !== 'number' || !Number.isFinite(given))
    return { value: 1, why: `it must be a whole number from 1 to ${MAX_WORKERS}; using 1` };
  if (given > MAX_WORKERS)
    return { value: MAX_WORKERS, why: `a project has at most ${MAX_WORKERS} workers; using ${MAX_WORKERS}` };
  if (given < 1) return { value: 1, why: 'a project has at least 1 worker; using 1' };
  if (!Number.isInteger(given)) {
    const value = Math.floor(given);
    return { value, why: `it must be a whole number; using ${value}` };
  }
  return null;
}

export function isTimeZone(name: unknown): boolean {
  if (typeof name !== 'string' || name === '') return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
