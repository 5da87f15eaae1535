import { expect, test } from 'vitest';
import { scrub } from './log.ts';

test.each([
  ['connect postgres://ada:s3cret@host/db failed', 'connect postgres://ada:***@host/db failed'],
  ['Authorization: Bearer abc.def', 'Authorization: Bearer ***'],
  ['{"token":"abc","pid":1}', '{"token":"***","pid":1}'],
  ['API_KEY=abc next', 'API_KEY=*** next'],
  ['https://host:443/path stays', 'https://host:443/path stays'],
])('%s', (text, expected) => expect(scrub(text)).toBe(expected));
