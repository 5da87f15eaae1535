import { describe, expect, it } from 'vitest';
import { readResult, repairRequest } from './result.ts';

const expected = { mode: 'propose', criteria: [] } as const;
const read = (text: string) => readResult(text, expected);

const SEED_FORM = `I looked at the repository.

**Title:** Cache compiled templates
**Description:** Every request compiles the template again.
It costs 40 ms each time.
**Acceptance Criteria:**
- AC-1.a: A second request for the same template compiles nothing
- AC-1.b: A changed template file is compiled again at the next request
- AC-1.c: At most 100 compiled templates are kept
**Technical Approach:** Keep them in a map
1. Add the map
2. Bound it
**Estimated Effort:** 2-4 hours
`;

const draft = {
  title: 'Cache compiled templates',
  criteria: [
    'A second request for the same template compiles nothing',
    'A changed template file is compiled again at the next request',
    'At most 100 compiled templates are kept',
  ],
  effortHours: 4,
};

describe('a proposal in words', () => {
  it.each([
    ['with bold names', SEED_FORM],
    [
      'with headings',
      '# Title\nCache compiled templates\n## Description\nSlow today.\n## Acceptance Criteria\n1. A second request for the same template compiles nothing\n2. A changed template file is compiled again at the next request\n3) At most 100 compiled templates are kept\n## Technical Approach\nA map.\n## Estimated Effort\n4 h',
    ],
    [
      'with plain names, other line ends and files',
      'Title: Cache compiled templates\r\nDescription: Slow today.\r\nCriteria:\r\n* A second request for the same template compiles nothing\r\n* A changed template file is compiled again at the next request\r\n* At most 100 compiled templates are kept\r\nEffort: 240 minutes\r\nFiles: `src/a.ts`, src/b.ts\r\nDependencies: none\r\n',
    ],
  ])('is read %s', (_name, text) => {
    const result = read(text);
    expect(result).toMatchObject({ envelope: { outcome: 'proposed', proposal: draft } });
    if (text.includes('Files'))
      expect(result).toMatchObject({ envelope: { proposal: { files: ['src/a.ts', 'src/b.ts'], dependencies: [] } } });
  });

  it('is read as JSON, with empty values for what is left out', () => {
    const proposal = { ...draft, description: 'Slow today.' };
    expect(read(JSON.stringify({ outcome: 'proposed', summary: 's', proposal }))).toMatchObject({
      envelope: { proposal: { ...draft, approach: '', files: [], newFiles: [], dependencies: [] } },
    });
  });

  it('may say that there is none', () => {
    expect(read('NO_IDEA_AVAILABLE')).toMatchObject({ envelope: { outcome: 'no_idea' } });
    expect(read('I read all of src.\n\nNO_IDEA_AVAILABLE')).toMatchObject({
      envelope: { outcome: 'no_idea', summary: 'I read all of src.' },
    });
    expect(read('{"outcome":"no_idea","summary":"nothing"}')).toMatchObject({ envelope: { outcome: 'no_idea' } });
  });

  it.each([
    ['is too large', SEED_FORM.replace('2-4 hours', '3 days'), 'at most 8: propose a smaller part'],
    ['has no effort', SEED_FORM.replace('2-4 hours', 'small'), 'effortHours'],
    ['has two criteria', SEED_FORM.replace(/- AC-1.c.*\n/, ''), 'at least 3 criteria'],
    [
      'has praise as criteria',
      SEED_FORM.replace(/A second request.*/, 'It works well'),
      'say nothing that a test could see: It works well',
    ],
    ['names a file outside', `${SEED_FORM}**Files:** ../../etc/passwd\n`, 'inside the repository'],
    ['is prose', 'You could cache the templates, which would help.', 'There is no result'],
    ['is broken JSON', '{"outcome": "proposed", "proposal": {"title": "x",', 'cannot be read'],
    ['lacks the proposal', '{"outcome":"proposed","summary":"s"}', 'needs "proposal"'],
  ])('is sent back once with a stricter request when it %s', (_name, text, problem) => {
    const result = read(text);
    const said = 'invalid' in result ? result.invalid : 'missing' in result ? result.missing : '';
    expect(said).toContain(problem);
    const request = repairRequest(said, expected);
    expect(request).toContain('as one JSON object');
    expect(request).toContain('"effortHours"');
  });
});
