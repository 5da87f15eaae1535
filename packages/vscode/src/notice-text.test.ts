import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noticeText } from './notice-text.ts';

/** As the editor finds links in notifications. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/gi;

test.each([
  '[Approve](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22id%5Cn%22%7D)',
  'see [[x](https://example.invalid) and [y](file:///etc/passwd "z")',
])('a text cannot become a link that runs something: %s', (text) => {
  expect(text).toMatch(LINK);
  expect(noticeText(text)).not.toMatch(LINK);
});

test('a notification text without a link stays as it is', () => {
  expect(noticeText('list[0] (the first) and f(x)')).toBe('list[0] (the first) and f(x)');
});

test('every notification that is not modal is shown through the function that makes its text safe', () => {
  const folder = import.meta.dirname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'say.ts',
  );
  const shown = files.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => /show(Information|Warning|Error)Message/.test(line) && !line.includes('modal: true'))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(files.length).toBeGreaterThan(20);
  expect(shown).toEqual([]);
});
