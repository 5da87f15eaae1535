import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AppError } from '@tidemill/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createRunLog, RUN_LOG_CAP } from './run-log.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'tidemill-log-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const text = (runId: string) => readFile(path.join(dir, `${runId}.log`), 'utf8');

it('a run log is on disk within three seconds without a close, and continues when opened again', async () => {
  const open = createRunLog({ dir, clock: systemClock });
  const log = open('run_1');
  log.write('a');
  log.write('b');
  await expect.poll(() => text('run_1').catch(() => ''), { timeout: 3000 }).toBe('ab');
  log.write('c');
  await log.close();
  const again = open('run_1');
  again.write('d');
  await again.close();
  expect(await text('run_1')).toBe('abcd');
});

it('a run log is cut at 5 MB, between characters, and says so once', async () => {
  const open = createRunLog({ dir, clock: systemClock });
  const log = open('run_1');
  log.write('x');
  for (let i = 0; i < 200; i++) log.write('€'.repeat(20_000));
  await log.close();
  const again = open('run_1');
  again.write('more');
  await again.close();
  const kept = await text('run_1');
  expect(kept).toMatch(/€\n\[output truncated at 5 MB\]\n$/);
  expect(kept).not.toContain('\ufffd');
  expect((await stat(path.join(dir, 'run_1.log'))).size).toBeLessThan(RUN_LOG_CAP + 100);
});

it('a run log that cannot be written is reported once, and later writes do no harm', async () => {
  const reported: AppError[] = [];
  const open = createRunLog({
    dir: '/dev/full/x',
    clock: systemClock,
    onError: (_run, error) => void reported.push(error),
  });
  const log = open('run_1');
  for (let i = 0; i < 10; i++) log.write('x'.repeat(300_000));
  await log.close();
  expect(reported).toHaveLength(1);
  expect(reported[0]?.message).toContain('the output of run_1 cannot be kept');
});

it('the report of a run log that cannot be written names a full disk as the reason', async ({ skip }) => {
  skip(!existsSync('/dev/full'), 'there is no /dev/full here');
  await symlink('/dev/full', path.join(dir, 'run_1.log'));
  const reported: AppError[] = [];
  const log = createRunLog({ dir, clock: systemClock, onError: (_run, error) => void reported.push(error) })('run_1');
  log.write('x');
  await log.close();
  expect(reported.map(({ code }) => code)).toEqual(['disk_full']);
});

it('a run log refuses a run id that leads out of its folder', () => {
  expect(() => createRunLog({ dir, clock: systemClock })('../../etc/x')).toThrow('is no run id');
});
