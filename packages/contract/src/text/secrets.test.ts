import { expect, test } from 'vitest';
import { withoutSecrets } from './secrets.ts';

test.each([
  ['connect postgres://ada:s3cret@host/db failed', 'connect postgres://ada:***@host/db failed'],
  ['Authorization: Bearer abc.def', 'Authorization: Bearer ***'],
  ['{"token":"abc","pid":1}', '{"token":"***","pid":1}'],
  ['API_KEY=abc next', 'API_KEY=*** next'],
  ['export K=sk-ant-api03-abcdefghijklmnop1234', 'export K=***'],
  [`git clone with ghp_${'a1'.repeat(18)}`, 'git clone with ***'],
  ['https://host:443/path stays', 'https://host:443/path stays'],
  ['the token bucket and the sk- prefix stay', 'the token bucket and the sk- prefix stay'],
])('secrets are hidden, and other words stay: %s', (text, expected) => expect(withoutSecrets(text)).toBe(expected));
