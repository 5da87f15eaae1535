import type { GateCounts } from '@tidemill/contract';

/** Texts inside a report may look like its elements. */
const TEXTS = /<!\[CDATA\[[\s\S]*?\]\]>|<!--[\s\S]*?-->/g;
const ELEMENTS = /<(\/?)(testcase|failure|error|skipped)\b([^>]*)>/g;

/** The test cases of a JUnit report; null when the text is none, or has not been written to its end. */
export function readJUnit(text: string): GateCounts | null {
  if (!/<\/testsuites?>\s*$|<testsuites?\b[^>]*\/>\s*$/.test(text)) return null;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let outcome: keyof GateCounts | null = null;
  const close = () => {
    if (outcome) counts[outcome] += 1;
    outcome = null;
  };
  for (const [, slash, name, rest] of text.replace(TEXTS, '').matchAll(ELEMENTS)) {
    if (name !== 'testcase') outcome = outcome === null ? null : name === 'skipped' ? 'skipped' : 'failed';
    else if (slash === '/') close();
    else {
      close();
      outcome = 'passed';
      if (rest?.endsWith('/')) close();
    }
  }
  close();
  return counts;
}

/** A report in a text: the last one, and only if it ends there. */
export function printedJUnit(text: string): GateCounts | null {
  const start = Math.max(text.lastIndexOf('<?xml '), text.lastIndexOf('<testsuites'));
  const end = Math.max(text.lastIndexOf('</testsuites>') + 13, text.lastIndexOf('</testsuite>') + 12);
  return start < 0 || end < start ? null : readJUnit(text.slice(start, end));
}
