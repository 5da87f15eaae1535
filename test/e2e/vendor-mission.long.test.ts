import { describe, test } from 'vitest';
import { claude, claudeAcp, codex, install, opencode } from '../support/mission/vendors.ts';
import { landTasks } from './vendor-mission-suite.ts';

const vendors = await Promise.all(
  [claude, codex, opencode, claudeAcp].map(async (vendor) => ({ vendor, found: await install(vendor) })),
);

describe('two tasks, one sent back by the tests, one by the reviewer', () => {
  test.for(vendors.map(({ vendor, found }) => [vendor.name, vendor, found] as const))(
    'land with %s',
    { timeout: 300_000 },
    async ([, vendor, found], context) => {
      context.skip('missing' in found, 'missing' in found ? found.missing : '');
      if (!('missing' in found)) await landTasks(vendor, found, 2);
    },
  );
});
