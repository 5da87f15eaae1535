import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestDoubt } from './session-trust.ts';

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-session-trust-')));
  for (const name of ['.claude-sessions', 'dist']) mkdirSync(join(root, name));
  symlinkSync(root, join(root, 'dist', 'up'));
});
afterAll(() => rmSync(root, { recursive: true }));

const doubt = (writable: string[]) =>
  requestDoubt(
    root,
    Config.parse({
      target: 'main',
      agents: { default: { type: 'claude' } },
      delivery: { environments: [{ name: 'staging', run: ['true'], writable }] },
    }),
  );

test.each(['.', '.claude-sessions', 'dist/up', '..'])(
  'a delivery that may write %s is reported, for it could write requests',
  async (place) => {
    expect(await doubt([place])).toContain('the delivery to staging may write');
  },
);

test('a delivery that writes elsewhere is not reported', async () => {
  expect(await doubt(['dist'])).not.toEqual(expect.stringContaining('delivery'));
});
