import { describe, expect, test } from 'vitest';
import { hasOwnMarkers } from './conflict-marker.ts';

const block = (length = 7, ours = 'A', theirs = 'B') =>
  `${'<'.repeat(length)} ours\n${ours}\n${'='.repeat(length)}\n${theirs}\n${'>'.repeat(length)} theirs`;

describe('a text has conflict markers', () => {
  test.each([
    ['a conflict', block()],
    ['a conflict between other lines', `x\n${block()}\ny\n`],
    ['a conflict with long markers', block(9)],
    ['a conflict with the line endings of Windows', block().replaceAll('\n', '\r\n')],
    ['markers without names', '<<<<<<<\nA\n=======\nB\n>>>>>>>'],
    ['an empty side', '<<<<<<< ours\n=======\nB\n>>>>>>> theirs'],
    ['the base in between', '<<<<<<< ours\nA\n||||||| base\nO\n=======\nB\n>>>>>>> theirs'],
    ['a conflict in a conflict', `<<<<<<< ours\n${block()}\n=======\nB\n>>>>>>> theirs`],
    ['an opening that is never closed before it', `<<<<<<< ours\n${block()}`],
  ])('with %s', (_what, text) => expect(hasOwnMarkers(text, [])).toBe(true));

  test.each([
    ['no text', ''],
    ['a heading', 'Title\n=======\n\ntext'],
    ['a quotation', '>>>>>>> quoted'],
    ['only an opening', '<<<<<<< ours\nA\n=======\nB'],
    ['only an end', 'A\n=======\nB\n>>>>>>> theirs'],
    ['no middle', '<<<<<<< ours\nA\n>>>>>>> theirs'],
    ['a middle after the end', '<<<<<<< ours\nA\n>>>>>>> theirs\n======='],
    ['a middle with words', '<<<<<<< ours\nA\n======= middle\nB\n>>>>>>> theirs'],
    ['short markers', block(6)],
    ['markers of different length', '<<<<<<< ours\nA\n========\nB\n>>>>>>> theirs'],
    ['an end of another length', '<<<<<<< ours\nA\n=======\nB\n>>>>>>>> theirs'],
    ['markers within lines', ' <<<<<<< ours\nA\n =======\nB\n >>>>>>> theirs'],
    ['signs that go on', '<<<<<<<ours\nA\n=======\nB\n>>>>>>>theirs'],
  ])('not with %s', (_what, text) => expect(hasOwnMarkers(text, [])).toBe(false));

  test('that a side has as sample data do not count, others beside them do', () => {
    expect(hasOwnMarkers(`x\n${block()}\n`, [null, `${block()}\ny`])).toBe(false);
    expect(hasOwnMarkers(`${block()}\n${block(7, 'C')}\n`, [block(), block()])).toBe(true);
    expect(hasOwnMarkers(block(), [null, null])).toBe(true);
  });
});
