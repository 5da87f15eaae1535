import { array, assert, constantFrom, property } from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import MarkdownBody from './markdown-body.tsx';
import { parseMarkdown, safeAddress } from './markdown-tokens.ts';

const html = (text: string, more: { level?: number; isInline?: boolean; isWrapped?: boolean } = {}) =>
  renderToStaticMarkup(
    createElement(MarkdownBody, {
      text,
      level: 3,
      isInline: false,
      isWrapped: false,
      rest: (rest: string) => `REST ${rest}`,
      ...more,
    }),
  );

test('markdown renders what agents write', () => {
  expect(html('Some **bold**, *soft* and `code`\nnext line')).toBe(
    '<p dir="auto">Some <strong>bold</strong>, <em>soft</em> and <code dir="ltr">code</code><br/>next line</p>',
  );
  expect(html('wrapped\nline', { isWrapped: true })).toBe('<p dir="auto">wrapped\nline</p>');
  expect(html('3. [x] done\n4. [ ] open')).toMatch(/^<ol start="3"><li dir="auto" class="ticked">.*☑.*☐/);
  expect(html('| a | b |\n|---|--:|\n| 1 | 2 |')).toContain('<td dir="auto" data-side="right">2</td>');
  expect(html('```ts\nconst a = 1;\n```')).toContain('const a = 1;');
  expect(html('see #12 and README.md')).toBe('<p dir="auto">see #12 and README.md</p>');
  expect(html('a `b` *c*\n\n# d', { isInline: true })).toContain('<code dir="ltr">b</code> <em>c</em>');
});

test('markdown keeps the order of headings', () => {
  const tags = (text: string, level: number) => [...html(text, { level }).matchAll(/<(h\d)/g)].map(([, tag]) => tag);
  expect(tags('# a\n## b\n#### c\n## d\n# e', 3)).toEqual(['h3', 'h4', 'h5', 'h4', 'h3']);
  expect(tags('#### a\n# b\n###### c', 4)).toEqual(['h4', 'h4', 'h5']);
  expect(tags('# a\n## b\n### c\n#### d', 5)).toEqual(['h5', 'h6', 'h6', 'h6']);
});

test('markdown opens only web and mail addresses', () => {
  expect(safeAddress('https://example.org/a b')).toBe('https://example.org/a%20b');
  expect(safeAddress('mailto:ada@example.org')).toBe('mailto:ada@example.org');
  const refused = ['javascript:alert(1)', 'JaVaScRiPt:x', '\u0001javascript:x', ' java\nscript:x', 'data:text/html,x'];
  for (const address of [...refused, 'vbscript:x', 'file:///etc/passwd', '//evil.example', '/tasks/1', 'docs/a.md', ''])
    expect(safeAddress(address), address).toBeNull();
  expect(html('[a](javascript:alert(1))')).toBe('<p dir="auto">a <code dir="ltr">javascript:alert(1)</code></p>');
  expect(html('![a](https://evil.example/x.png)')).toMatch(/^<p dir="auto"><a href="https:\/\/evil.example\/x.png"/);
  expect(html('[https://bank.example](https://evil.example)')).toContain('(to evil.example)');
  expect(html('https://bank.example/a')).not.toContain('(to ');
});

test('markdown hides nothing that was written', () => {
  for (const text of [
    '<!-- secret -->',
    '[a]: https://x.example "secret"',
    '```ts secret\n```',
    '[a](https://x.example "secret")',
  ])
    expect(html(text), text).toContain('secret');
  expect(html('|a|b|\n|-|-|\n|c|d|secret|')).toContain('|c|d|secret|');
  expect(html('> |a|b|\n> |-|-|\n> |c\\|d||')).toContain('<td');
  expect(html(`${'> '.repeat(40)}secret`)).toContain('secret');
  expect(html('a &#x202E; &#8206;b')).toBe('<p dir="auto">a [U+202E] [U+200E]b</p>');
});

test('markdown leaves what is too much as it was written', () => {
  const many = `# first\n\n${'|a|b|\n|-|-|\n'}${'|c|d|\n'.repeat(5000)}`;
  const { parts, rest } = parseMarkdown(many);
  expect(parts).toHaveLength(1);
  expect(rest).toBe(many.slice('# first\n\n'.length));
});

const PIECES = [
  '<script>x</script>',
  '<img src=x onerror=y>',
  '<a href="javascript:x" id=page>',
  '[a](javascript:x)',
  '[a](<java\nscript:x>)',
  '[a](data:text/html;base64,eA==)',
  '[a](&#106;avascript:x)',
  '![a](javascript:x)',
  '<javascript:x>',
  '<https://x.example/"onclick=y>',
  '[a](https://x.example/"><script> "t\\"><script>")',
  'https://x.example/%22%3E%E2%80%AE',
  '```"><script>\n<script>\n```\n',
  '`<script>`',
  '|<script>|b|\n|-|-|\n|c|[d](javascript:x)|\n',
  '&lt;script&gt;',
  '&#x202e;',
  '\u202e',
  '# <b>\n',
  '- [x] <i>\n',
  '> ',
  '**',
  '_',
  '~~',
  '[',
  '](',
  ')',
  '\n',
  '\n\n',
  '    ',
  'a',
];
const ELEMENT =
  /^<\/?(?:p|br|hr|h[3-6]|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|em|strong|s|code|pre|div|span|a)(?: (?:dir|class|start|data-side|data-depth|aria-hidden|target|rel|title|href)="[^"<>]*")*\/?>/;

test('markdown makes only harmless elements of anything', () => {
  assert(
    property(array(constantFrom(...PIECES), { maxLength: 12 }), (pieces) => {
      const made = html(pieces.join(''));
      for (const { index } of made.matchAll(/</g)) expect(made.slice(index)).toMatch(ELEMENT);
      for (const [, href] of made.matchAll(/ href="([^"]*)"/g)) expect(href).toMatch(/^(?:https?:\/\/|mailto:)/);
      expect(made).not.toContain('\u202e');
    }),
  );
});
