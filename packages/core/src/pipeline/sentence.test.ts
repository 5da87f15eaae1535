import { expect, test } from 'vitest';
import { sentence } from './sentence.ts';

test.each([
  ['the result has no id', 'the result has no id.'],
  ['expected a text at criteria[0]', 'expected a text at criteria[0].'],
  ['It failed. (Twice.)', 'It failed. (Twice.)'],
  [' Really? ', 'Really?'],
  ['', ''],
])('a reason is completed to a sentence, so that another can follow: %j', (text, said) => {
  expect(sentence(text)).toBe(said);
});
