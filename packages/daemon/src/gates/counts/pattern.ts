import { runInNewContext } from 'node:vm';
import type { GateCounts } from '@tidemill/contract';

const LONGEST_LINE = 1_000;
const LIMIT_MS = 500;

/**
 * The figures of a project's own pattern. It is matched line by line, and the last value of each group counts. An agent writes
 * the lines, and some patterns take very long on some lines: then there are no figures.
 */
export function readPattern(text: string, pattern: string): GateCounts | null {
  const lines = text.split('\n').filter((line) => line.length <= LONGEST_LINE);
  try {
    const found = JSON.parse(runInNewContext(SEARCH, { lines, pattern }, { timeout: LIMIT_MS })) as Record<
      string,
      string | undefined
    >;
    if (found.passed === undefined && found.failed === undefined) return null;
    return { passed: whole(found.passed), failed: whole(found.failed), skipped: whole(found.skipped) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
    throw error;
  }
}

/** `1,234` and `1 234` are numbers, too. */
const whole = (text = '0') => Number(text.replace(/[^\d]/g, '').slice(0, 9));

/** A regular expression can be interrupted only in a script of its own. */
const SEARCH = `
const wanted = new RegExp(pattern, 'u');
const found = {};
for (const line of lines) {
  const groups = wanted.exec(line)?.groups ?? {};
  for (const name of Object.keys(groups)) if (groups[name] !== undefined) found[name] = groups[name];
}
JSON.stringify(found);
`;
