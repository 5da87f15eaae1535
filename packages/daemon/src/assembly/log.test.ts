import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a full disk does not end the process that writes a log, and is reported once', async ({ skip }) => {
  skip(!existsSync('/dev/full'), 'there is no /dev/full here');
  const script = `
    import { openLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
    const log = openLog('/dev/full');
    for (const text of ['one', 'two', 'three']) log.info(text);
    setImmediate(() => console.log('lives'));`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('lives\n');
  expect(stderr.match(/\/dev\/full cannot be written/g)).toHaveLength(1);
});

test('after a log is closed, an error goes to the terminal and nothing fails', async () => {
  const script = `
    import { openLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
    const log = openLog(${JSON.stringify(devNull)});
    log.close();
    log.info('too late');
    log.error('the engine failed', new Error('late'));
    log.close();
    setImmediate(() => console.log('lives'));`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('lives\n');
  expect(stderr).toMatch(/^tidemill: the engine failed: Error: late/);
});
