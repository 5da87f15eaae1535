import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { UseLimits } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { leakedProcesses } from './leaks.ts';
import { sandboxStatus } from './sandbox.ts';

const status = await sandboxStatus();
let base: string;
beforeAll(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'tidemill-limits-'));
  await mkdir(path.join(base, 'work'));
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function run(sandbox: 'auto' | 'off', limits: object, command: string[]) {
  let text = '';
  const host = { root: base, dataDir: path.join(base, 'data'), homeId: base, sandbox, limits: UseLimits.parse(limits) };
  await mkdir(host.dataDir, { recursive: true });
  const child = startChild({
    host,
    runId: 'run_limits',
    command,
    cwd: path.join(base, 'work'),
    network: false,
    timeoutMs: 60_000,
    onOutput: (chunk) => {
      text += chunk.toString();
    },
  });
  return { end: await child.end, text };
}

const HOG = 'const all = []; setInterval(() => all.push(Buffer.alloc(8 * 1024 * 1024, 1)), 5);';
const BOMB = 'i=0; while [ $i -lt 300 ]; do sleep 100 & i=$((i+1)); done; wait';
const MODEST = `const bytes = Buffer.alloc(60 * 1024 * 1024, 1);
  setTimeout(() => process.exit(bytes.length > 0 ? 0 : 1), 900);`;

describe.each(['auto', 'off'] as const)('a command with limits, sandbox %s', (sandbox) => {
  it('is ended when it uses too much memory, and the reason names the setting', async (context) => {
    context.skip(process.platform !== 'linux', 'limits need /proc');
    context.skip(sandbox === 'auto' && !status.available, status.why);
    const { end } = await run(sandbox, { memory: '300MB' }, ['node', '-e', HOG]);
    expect(end).toEqual({
      kind: 'over_limit',
      message: 'used more than 300 MB of memory; if it needs more, raise limits.memory in .tidemill/config.yaml',
    });
  });

  it('is ended with all its processes when it starts too many', async (context) => {
    context.skip(process.platform !== 'linux', 'limits need /proc');
    context.skip(sandbox === 'auto' && !status.available, status.why);
    const command = ['sh', '-c', sandbox === 'auto' ? BOMB.replace('sleep', 'setsid sleep') : BOMB];
    const { end } = await run(sandbox, { processes: 100 }, command);
    expect(end).toEqual({
      kind: 'over_limit',
      message: 'ran more than 100 processes at once; if it needs more, raise limits.processes in .tidemill/config.yaml',
    });
    expect(await leakedProcesses(base)).toEqual([]);
  });

  it('goes on below them', async (context) => {
    context.skip(sandbox === 'auto' && !status.available, status.why);
    const { end, text } = await run(sandbox, { memory: '1GB', processes: 100 }, ['node', '-e', MODEST]);
    expect(end, text).toMatchObject({ kind: 'exited', exitCode: 0 });
  });
});

it('limits are read as people write them', () => {
  expect(UseLimits.parse({ memory: '1.5GB', processes: 50 })).toEqual({ memory: 1.5 * 2 ** 30, processes: 50 });
  expect(UseLimits.parse({ memory: '512 mb' }).memory).toBe(512 * 2 ** 20);
  expect(UseLimits.parse({})).toEqual({ processes: 4000 });
  expect(UseLimits.safeParse({ memory: '8' }).error?.issues[0]?.message).toContain('such as 8GB');
  expect(UseLimits.safeParse({ processes: 1 }).success).toBe(false);
});
