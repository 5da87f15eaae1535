import { expect, it } from 'vitest';
import type { MergeLoss } from './conflict.ts';
import { lossText } from './merge-loss-text.ts';

const loss = (path: string, texts: string[]): MergeLoss => ({
  ...{ path, kind: 'lines', detail: '', lineCount: texts.length, content: path },
  lines: texts.map((text, index) => ({ line: index + 1, text })),
});

it('shows lost lines that only format after all others, within a file and among files', () => {
  const text = lossText([loss('a.ts', ['', '}']), loss('b.ts', ['  },', '', 'const tide = 1;', ');'])], 'main', 2);
  expect(text.split('\n')).toEqual([
    '- b.ts: main added or changed lines 1–4, missing here',
    '    3 | const tide = 1;',
    '    1 |   },',
    '      … 2 more',
    '- a.ts: main added or changed lines 1–2, missing here',
    '    1 | ',
    '    2 | }',
  ]);
});
