import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { searchFile } from '../../mcp/log-file.ts';
import { type LogQuery, scanLog } from './log-scan.ts';

const never = new AbortController().signal;
const ALL: LogQuery = { words: '', tail: false, from: 0, limit: 20 };
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-logs-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function scan(name: string, query: Partial<LogQuery>) {
  const handle = await open(join(folder, name));
  try {
    return await scanLog(handle, { ...ALL, ...query }, never);
  } finally {
    await handle.close();
  }
}

describe('a log of 100 MB', { timeout: 120_000 }, () => {
  const LINES = 1_250_000;
  beforeAll(async () => {
    const out = createWriteStream(join(folder, 'large.log'));
    const usual = `${'x'.repeat(79)}\n`.repeat(1000);
    for (let block = 0; block < LINES / 1000; block += 1) {
      if (!out.write(block % 100 === 50 ? usual.replace('x'.repeat(10), 'Error: äöü') : usual))
        await once(out, 'drain');
    }
    out.end();
    await once(out, 'close');
  }, 120_000);

  test('is searched where it is: all matches are counted, a page is returned, the next begins where it ended', async () => {
    const first = await scan('large.log', { words: 'ERROR äöü', limit: 5 });
    expect(first).toMatchObject({ bytes: expect.any(Number), matches: 12 });
    expect(first.bytes).toBeGreaterThanOrEqual(100_000_000);
    expect(first.lines.map(({ line }) => line)).toEqual([50_001, 150_001, 250_001, 350_001, 450_001]);
    expect(JSON.stringify(first).length).toBeLessThan(1000);
    const second = await scan('large.log', { words: 'error', limit: 20, from: first.next! });
    expect(second).toMatchObject({ matches: 7, next: null });
  });

  test('is counted, and its end is read without the rest', async () => {
    expect(await scan('large.log', { limit: 0 })).toMatchObject({ matches: LINES, lines: [], next: null });
    const { lines } = await scan('large.log', { tail: true, limit: 3 });
    expect(lines).toHaveLength(3);
  });

  test('is not searched further once the request is aborted', async () => {
    const handle = await open(join(folder, 'large.log'));
    await expect(scanLog(handle, ALL, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    await handle.close();
  });
});

test('a log line without an end is cut, and control characters are removed', async () => {
  writeFileSync(join(folder, 'one-line.log'), `\u001b[31m${'y'.repeat(3_000_000)}`);
  const { lines, matches } = await scan('one-line.log', { words: 'y', limit: 2 });
  expect(matches).toBeGreaterThan(1);
  expect(lines[0]!.text).toMatch(/^y{300}…$/);
  writeFileSync(join(folder, 'empty.log'), '');
  expect(await scan('empty.log', {})).toEqual({ bytes: 0, matches: 0, lines: [], next: null });
});

describe('a log file in a folder of an agent', () => {
  beforeAll(() => {
    mkdirSync(join(folder, 'work/logs'), { recursive: true });
    mkdirSync(join(folder, 'work/.git/logs'), { recursive: true });
    writeFileSync(join(folder, 'work/logs/build.txt'), 'one\ntwo\n');
    writeFileSync(join(folder, 'work/.env'), 'SECRET=1\n');
    writeFileSync(join(folder, 'secret.log'), 'SECRET=1\n');
    symlinkSync(join(folder, 'secret.log'), join(folder, 'work/link.log'));
    symlinkSync(folder, join(folder, 'work/logs/up'));
  });
  const search = (path: string) => searchFile(join(folder, 'work'), path, { ...ALL, words: '' }, never);

  test('is searched', async () => {
    expect(await search('logs/build.txt')).toMatchObject({ id: 'logs/build.txt', matches: 2 });
  });

  test.each([
    ['a secret', '.env', /does not look like a log/],
    ['a path that leads out', '../secret.log', /is not in/],
    ['a whole path that is elsewhere', '/etc/hostname', /is not in/],
    ['a link that leads out', 'link.log', /is not in/],
    ['a folder that is a link', 'logs/up/secret.log', /is not in/],
    ['a folder', 'logs', /not a file|does not look like a log/],
    ['a device', '/dev/zero', /is not in/],
    ['nothing', 'logs/none.log', /cannot be read/],
  ])('%s is refused', async (_what, path, why) => {
    await expect(search(path)).rejects.toThrow(why);
  });

  test.each([
    ['outside the folder', 'pipe.log', '../pipe.log', /is not in/],
    ['behind a link', 'pipe.log', 'pipe-link.log', /is not in/],
    ['of the folder', 'work/own-pipe.log', 'own-pipe.log', /is not a file/],
    ['that is no log', 'work/pipe.txt', 'pipe.txt', /does not look like a log/],
  ])('a pipe %s is refused before anything is opened', async (_where, pipe, path, why) => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(folder, pipe)]);
    symlinkSync(join(folder, 'pipe.log'), join(folder, 'work/pipe-link.log'));
    // The writer gets on as soon as somebody opens the pipe.
    const writer = spawn('sh', ['-c', 'echo ready; exec 3> "$1"; echo opened', 'sh', join(folder, pipe)]);
    let said = '';
    writer.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await once(writer.stdout, 'data');
    await expect(search(path)).rejects.toThrow(why);
    execFileSync('sh', ['-c', ':']);
    writer.kill('SIGKILL');
    await once(writer, 'close');
    rmSync(join(folder, 'work/pipe-link.log'));
    rmSync(join(folder, pipe));
    expect(said).toBe('ready\n');
  });
});
