import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';

test('a daemon that is stopped again, while it stops and after it, stops once', async () => {
  const served = await ServedDaemon.start();
  const { daemon, home, repository } = served;
  try {
    await daemon.attach(repository.root);
    const first = daemon.stop();
    expect(daemon.stop({ now: true })).toBe(first);
    await first;
    // Nothing of it is there any more: neither the engines nor the log.
    await daemon.stop({ now: true });
    await daemon.stop();
    // A failure that nobody waits for is reported by the test runner.
    await new Promise((resolve) => setImmediate(resolve));
    const log = readFileSync(join(home, 'daemon.log'), 'utf8');
    expect(log.match(/"msg":"stopped"/g)).toHaveLength(1);
  } finally {
    await served.close();
  }
});
