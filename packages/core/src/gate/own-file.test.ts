import { expect, test } from 'vitest';
import { ownFileAdvice } from './own-file.ts';

test.each([
  [
    'Checking formatting...\n[warn] .tidemill/config.yaml\n[warn] Code style issues found in the above file.',
    '.prettierignore',
  ],
  ['./.tidemill/config.yaml\n  3:81  error  line too long  (line-length)\nyamllint', '.yamllint'],
  ['.tidemill/config.yaml: something', 'list of ignored files'],
])('a check that names a file of Tidemill is explained with the line that helps: %j', (output, place) => {
  const advice = ownFileAdvice('lint', output);
  expect(advice).toMatch(/^lint complains about \.tidemill\/config\.yaml, a file of Tidemill/);
  expect(advice).toContain(place);
});

test('a check that fails for another reason gets no advice about files of Tidemill', () => {
  expect(ownFileAdvice('test', 'src/tidemill/a.ts failed; see docs.tidemill/x')).toBe(null);
});
