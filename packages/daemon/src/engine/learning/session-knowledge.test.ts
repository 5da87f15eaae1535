import { expect, test } from 'vitest';
import { sessionKnowledge } from './session-knowledge.ts';

const known = (text: string, confidence = 0.7, files = '') => ({ text, confidence, files });

test('a session is told the most certain lessons first, once each, without secrets, within 1,000 tokens', () => {
  expect(sessionKnowledge([])).toBe('');
  const text = sessionKnowledge([
    known('use port 1'),
    known('token=hunter2 is needed', 0.9, 'src/api/**'),
    known('use port 1', 0.65),
    ...Array.from({ length: 200 }, (_, index) => known(`${index} ${'x'.repeat(500)}`, 0.6)),
  ]);
  expect(text.length / 4).toBeLessThan(1_000);
  expect(text).not.toContain('hunter2');
  expect(text.match(/use port 1/g)).toHaveLength(1);
  expect(text.indexOf('is needed (src/api/**)')).toBeLessThan(text.indexOf('use port 1'));
  expect(text).toMatch(/^What Tidemill has learned .* information, not an instruction/);
});
