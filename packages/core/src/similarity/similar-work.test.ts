import { describe, expect, it } from 'vitest';
import { type DescribedWork, DUPLICATE, RELATED, SimilarWork } from './similar-work.ts';
import { stem, wordsOf } from './words.ts';

const work = (title: string, body = '', files: string[] = []): DescribedWork => ({ title, body, files });

/** Work of an ordinary project, as the background against which words are rare or common. */
const KNOWN = [
  work(
    'Add unit tests for the date parser',
    'The parser of dates in src/dates.ts has no tests for leap years and time zones. Add tests that cover both.',
    ['src/dates.ts', 'test/dates.test.ts'],
  ),
  work(
    'Cache compiled templates',
    'Templates are compiled again on every request. Keep the compiled ones in memory, at most 100 of them.',
    ['src/templates.ts'],
  ),
  work(
    'Add rate limiting to the login endpoint',
    'Somebody can try passwords without a limit. Refuse more than five tries a minute from one address.',
    ['src/api/login.ts'],
  ),
  work(
    'Show a message when the network is down',
    'The page stays empty when the server cannot be reached. Show what happened and retry.',
    ['web/src/page.tsx'],
  ),
  work(
    'Remove the unused CSV exporter',
    'Nothing calls src/export/csv.ts since the reports moved to JSON. Remove it and its tests.',
    ['src/export/csv.ts'],
  ),
  work(
    'Describe the configuration file in the README',
    'New users have to read the source to learn which settings exist. Add a table of all of them.',
    ['README.md'],
  ),
  work(
    'Upgrade the HTTP client to its next major version',
    'The old major version gets no security fixes after this year.',
    ['package.json'],
  ),
  work(
    'Add keyboard navigation to the task board',
    'Cards can only be moved with a mouse. Arrow keys should move the focus, and Enter should open a card.',
    ['web/src/board.tsx'],
  ),
  work(
    'Retry failed uploads with backoff',
    'An upload that fails because of the network is lost. Try it again three times with growing pauses.',
    ['src/upload.ts'],
  ),
  work(
    'Split the order module into smaller files',
    'src/orders.ts has 1,400 lines. Part it by responsibility: prices, stock, shipping.',
    ['src/orders.ts'],
  ),
];

function against(asked: DescribedWork) {
  const known = new SimilarWork<number>();
  for (const [index, each] of KNOWN.entries()) known.put(String(index), index, each);
  return known.like(asked, 0)[0]!;
}

describe('the search for similar work', () => {
  it.each<[string, DescribedWork, number]>([
    ['the same words', KNOWN[2]!, 2],
    [
      'another wording of the title',
      work(
        'Introduce rate limits for the login endpoint',
        'Passwords can be tried without a limit. Refuse an address after five tries in a minute.',
        ['src/api/login.ts'],
      ),
      2,
    ],
    ['the same title alone', work('Cache compiled templates'), 1],
    [
      'other forms of the words',
      work(
        'Adding unit test for date parsing',
        'There are no tests for leap years and time zones in the date parser in src/dates.ts. Tests that cover both are added.',
        ['src/dates.ts'],
      ),
      0,
    ],
    [
      'names in camel case',
      work(
        'Remove unused csvExporter',
        'Nothing calls the CSV exporter since reports moved to JSON. Remove src/export/csv.ts and its tests.',
        ['src/export/csv.ts'],
      ),
      4,
    ],
  ])('finds a duplicate: %s', (_name, asked, twin) => {
    const best = against(asked);
    expect(best.key).toBe(twin);
    expect(best.likeness).toBeGreaterThanOrEqual(DUPLICATE);
  });

  it.each<[string, DescribedWork, number]>([
    [
      'the next step in the same place',
      work(
        'Add unit tests for the date formatter',
        'The formatter in src/dates.ts has no tests for time zones. Add them.',
        ['src/dates.ts'],
      ),
      0,
    ],
    [
      'the same matter elsewhere',
      work(
        'Add rate limiting to the password reset endpoint',
        'Somebody can ask for any number of mails. Refuse more than five a minute from one address.',
        ['src/api/reset.ts'],
      ),
      2,
    ],
  ])('shows related work: %s', (_name, asked, other) => {
    const best = against(asked);
    expect(best.key).toBe(other);
    expect(best.likeness).toBeGreaterThanOrEqual(RELATED);
    expect(best.likeness).toBeLessThan(DUPLICATE);
  });

  it.each<[string, DescribedWork]>([
    [
      'another matter',
      work('Translate the sign-up form into French', 'Visitors from France see English texts.', [
        'web/src/sign-up.tsx',
      ]),
    ],
    [
      'another matter in the same file',
      work('Log how long each upload takes', 'Nobody knows which uploads are slow. Record the duration and the size.', [
        'src/upload.ts',
      ]),
    ],
    ['the same verb', work('Add a dark theme', 'The page is too bright at night.')],
    ['no words at all', work('!!!', '…')],
  ])('lets other work pass: %s', (_name, asked) => {
    expect(against(asked).likeness).toBeLessThan(RELATED);
  });

  it('compares texts in other scripts', () => {
    const known = new SimilarWork<string>();
    known.put('1', 'ja', work('ログイン画面にレート制限を追加する', 'パスワードを何度でも試すことができる。'));
    known.put('2', 'ar', work('إضافة حد لمحاولات تسجيل الدخول', 'يمكن لأي شخص تجربة كلمات مرور بلا حدود.'));
    known.put('3', 'de', work('Anmeldung gegen Ausprobieren schützen', 'Kennwörter lassen sich unbegrenzt probieren.'));
    expect(known.like(work('ログイン画面にレート制限を追加する'), DUPLICATE)).toMatchObject([{ key: 'ja' }]);
    expect(known.like(work('إضافة حد لمحاولات تسجيل الدخول'), DUPLICATE)).toMatchObject([{ key: 'ar' }]);
    expect(known.like(work('Anmeldung gegen Ausprobieren schützen!'), DUPLICATE)).toMatchObject([{ key: 'de' }]);
  });

  it('follows what is put, replaced and removed', () => {
    const known = new SimilarWork<string>();
    known.put('1', 'first', work('Cache compiled templates'));
    known.put('1', 'second', work('Add a dark theme'));
    expect(known.size).toBe(1);
    expect(known.like(work('Cache compiled templates'), RELATED)).toEqual([]);
    expect(known.like(work('Add a dark theme'), DUPLICATE)).toMatchObject([{ key: 'second' }]);
    known.remove('1');
    expect(known.like(work('Add a dark theme'), 0)).toEqual([]);
  });
});

describe('the words of a text', () => {
  it('are the same in other forms', () => {
    for (const forms of [
      ['test', 'tests', 'tested', 'testing'],
      ['cache', 'caches', 'cached', 'caching'],
      ['parse', 'parser', 'parsers', 'parsing'],
      ['validate', 'validation', 'validating', 'validated'],
      ['query', 'queries'],
      ['stop', 'stopping', 'stopped'],
      ['class', 'classes'],
      ['optimise', 'optimize', 'optimizing', 'optimization'],
    ])
      expect(new Set(forms.map(stem)), forms.join()).toHaveLength(1);
    expect(wordsOf('The rateLimiter of it')).toEqual(wordsOf('rate limiter'));
  });
});
