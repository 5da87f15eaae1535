import { describe, expect, test } from 'vitest';
import { changeAddress, changeParts } from './address.ts';
import { commentText, type LineComment, whyNotSent } from './comment-text.ts';
import { evidenceText } from './evidence-text.ts';

const ODD = 'a folder/ü & "q"?side=before#x.ts';

describe('the address of a file in a change', () => {
  test('gives back what it was made of, also for odd names', () => {
    const address = { project: 'project_1', task: 12, side: 'after', path: ODD } as const;
    expect(changeAddress(changeParts(address))).toEqual(address);
  });

  test.each(['', 'task=1&side=after', 'project=p&task=0&side=after', 'project=p&task=1&side=middle'])(
    'that this extension did not create is refused: %j',
    (query) => {
      expect(changeAddress({ path: '/a.ts', query })).toBeNull();
    },
  );
});

describe('a comment on a line', () => {
  const comment: LineComment = {
    task: 3,
    path: 'src/wheel.ts',
    side: 'after',
    from: 2,
    to: 3,
    code: "const rim = 'oak';\r\nconst hub = 1;",
    text: '  Use elm.\nIt floats.  ',
  };

  test('names file and lines, quotes the code and gives the words of the person whole', () => {
    expect(commentText(comment)).toBe(
      "A person commented on src/wheel.ts, lines 2–3:\n> const rim = 'oak';\n> const hub = 1;\n\nUse elm.\nIt floats.",
    );
    expect(commentText({ ...comment, side: 'before', to: 2 })).toContain('line 2 (as it was before this change):');
    expect(whyNotSent(comment)).toBeNull();
  });

  test('of any code and any length fits into a note, or is refused with the reason', () => {
    for (const code of ['', 'x'.repeat(5000), 'y\n'.repeat(5000)])
      for (const words of ['short', 'w'.repeat(1500), 'w'.repeat(1920)]) {
        const sent = { ...comment, code, text: words };
        expect(whyNotSent(sent)).toBeNull();
        expect(commentText(sent).length).toBeLessThanOrEqual(2000);
        expect(commentText(sent).endsWith(words)).toBe(true);
      }
    expect(whyNotSent({ ...comment, text: ' \n' })).toBe('The comment is empty.');
    expect(whyNotSent({ ...comment, text: 'w'.repeat(2000) })).toMatch(/shorten it by \d+ characters/);
  });
});

test('evidence shows verdicts, receipts and the output of gates, without terminal commands', () => {
  const receipt = { gate: 'test', status: 'fail', durationMs: 65_000, tree: 'abcdef0123456789', at: 0, attempt: 2 };
  const counts = { passed: 3, failed: 1, skipped: 0 };
  const criteria = [
    { id: 'C1', text: 'It turns', met: true, evidence: 'seen' },
    { id: 'C2', text: 'It floats', met: false, evidence: '' },
  ];
  const detail = {
    task: { number: 4, title: 'Turn', stage: 'verify', landedCommit: null, criteria },
    runs: [{}],
    evidence: [{ ...receipt, id: 'evidence_1', counts }],
    costUsd: 1.5,
  } as unknown as Parameters<typeof evidenceText>[0];
  const text = evidenceText(detail, new Map([['evidence_1', { text: '\u001b[31mred\u001b[0m\n', isCut: true }]]));
  for (const part of [
    '#4 Turn',
    '1 run · $1.50',
    'C1 met        It turns: seen',
    'C2 NOT met    It floats',
    'fail       test · 1 min · 3 passed, 1 failed, 0 skipped · second try · tree abcdef012345',
    '\nred\n(cut: the whole output is on the page of the task)',
  ])
    expect(text).toContain(part);
});
