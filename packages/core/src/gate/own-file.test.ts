import { expect, test } from 'vitest';
import { ownFileAdvice, settingHints } from './own-file.ts';

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

const HINTS = [
  'The command has no network in the sandbox: `network: true` in its entry of .tidemill/config.yaml allows it.',
  'The sandbox does not show /opt/x: if it exists, `readable: [/opt/x]` in .tidemill/config.yaml shows it.',
];
test("Tidemill's own hint about a setting is not taken for a complaint about its file", () => {
  const output = `It failed.\n${HINTS[0]}\n4 tests failed\n[${HINTS.join('\n')}]\n`;
  expect(ownFileAdvice('test', output)).toBe(null);
  expect(settingHints(output)).toEqual(HINTS);
  expect(ownFileAdvice('lint', `[warn] .tidemill/config.yaml\n${output}`)).toContain('lint complains');
});
