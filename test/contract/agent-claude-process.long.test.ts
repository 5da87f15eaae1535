import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { leakedProcesses } from '../../packages/daemon/src/process/leaks.ts';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { call, say, toolResults } from '../support/model/messages.ts';
import { MOST_MS } from './agent-bench.ts';
import { type ClaudeBench, DONE, done, login } from './claude-bench.ts';
import { onClaudeBench } from './claude-suite.ts';

const sandbox = await sandboxStatus();

/** Starts a command with a child that ignores the request to end, and writes both process ids to a file. */
const BUSY = call('Bash', {
  command: `sh -c 'trap "" TERM; sleep 600 & echo ready > ready; wait; sleep 600'`,
});

let bench: ClaudeBench;
const isBusy = async (worktree: string) => {
  while (!(await readFile(path.join(worktree, 'ready'), 'utf8').catch(() => ''))) await delay(20);
};

onClaudeBench((opened) => {
  bench = opened;
});

describe.each(['auto', 'off'] as const)('the end of Claude Code (sandbox %s)', (kind) => {
  beforeEach(async (context) => {
    context.skip(kind === 'auto' && !sandbox.available, sandbox.why);
    bench.host.sandbox = kind;
  });

  it('comes on request, with nothing left and the cost reported', async () => {
    const server = await bench.model([BUSY]);
    const trial = bench.start(server.url);
    await isBusy(bench.worktree);
    const from = performance.now();
    await trial.session.stop();
    expect(performance.now() - from).toBeLessThan(MOST_MS);
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'crash', message: 'stopped' });
    expect(await bench.leftOver()).toEqual([]);
    expect(trial.usage()).toEqual({ inputTokens: 100, outputTokens: 20, costUsd: 0.0008, requests: 1 });
  });

  it('comes for sure when the program itself hears nothing', async () => {
    const deaf = `#!/bin/sh\ntrap '' TERM INT HUP\necho up > ready\nwhile :; do sleep 1; done\n`;
    await writeFile(path.join(bench.host.root, 'deaf'), deaf, { mode: 0o755 });
    const trial = bench.start('http://127.0.0.1:1', { config: { program: './deaf' } });
    await isBusy(bench.worktree);
    const from = performance.now();
    await trial.session.stop();
    expect(performance.now() - from).toBeLessThan(MOST_MS);
    expect(await trial.end).toMatchObject({ kind: 'failed', message: 'stopped' });
    expect(await bench.leftOver()).toEqual([]);
  });

  it('comes when time is up, also while the model is silent', async () => {
    const server = await bench.model(say('', { after: new Promise(() => undefined) }));
    const trial = bench.start(server.url, { timeoutMs: 2_000 });
    expect(await trial.end).toMatchObject({
      kind: 'failed',
      failure: 'timeout',
      message: expect.stringMatching('2 s'),
    });
    expect(await bench.leftOver()).toEqual([]);
  });

  it('comes when it is stopped before it began', async () => {
    const server = await bench.model([DONE]);
    const trial = bench.start(server.url);
    await trial.session.stop();
    expect(await trial.end).toMatchObject({ kind: 'failed', message: 'stopped' });
    expect(await bench.leftOver()).toEqual([]);
  });
});

it('Claude Code leaves nothing behind when its starter is killed', async (context) => {
  context.skip(!sandbox.available, sandbox.why);
  const server = await bench.model([BUSY]);
  const starter = spawn(process.execPath, [path.join(import.meta.dirname, 'claude-starter.ts'), server.url, 'auto'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [base] = (await once(createInterface(starter.stdout), 'line')) as [string];
  const data = path.join(base, 'data');
  await isBusy(path.join(data, 'worktrees', '7'));
  expect((await leakedProcesses(data)).length).toBeGreaterThan(2);
  starter.kill('SIGKILL');
  const from = performance.now();
  while ((await leakedProcesses(data)).length > 0 && performance.now() - from < 5_000) await delay(20);
  expect(await leakedProcesses(data)).toEqual([]);
  await rm(base, { recursive: true, force: true });
});

it('a run of Claude Code has crashed when the program is killed', async () => {
  const server = await bench.model([BUSY]);
  const trial = bench.start(server.url);
  await isBusy(bench.worktree);
  const program = (await bench.leftOver()).find(({ command }) => /\/claude /.test(command) && !/bwrap/.test(command));
  process.kill(program!.pid, 'SIGKILL');
  expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'crash' });
  expect(trial.usage()).toMatchObject({ inputTokens: 100, costUsd: 0.0008, requests: 1 });
  expect(await bench.leftOver()).toEqual([]);
});

it('a run of Claude Code waits for a model that speaks slowly', async () => {
  const server = await bench.model({ ...DONE, say: 'slowly '.repeat(20), paceMs: 100 });
  const trial = bench.start(server.url);
  expect(await trial.end).toEqual(done);
  expect(trial.output()).toContain('slowly '.repeat(19));
});

describe('the person’s own Claude Code', () => {
  it('lends its login and nothing else', async (context) => {
    context.skip(!sandbox.available, sandbox.why);
    const own = path.join(bench.home, '.claude');
    await mkdir(own);
    await writeFile(path.join(own, '.credentials.json'), login('token-1'));
    await writeFile(path.join(own, 'settings.json'), '{"model":"theirs"}');
    const probe =
      'cd ~/.claude; ls -A; sed s/token-1/token-2/ .credentials.json > new; mv new .credentials.json || cat new > .credentials.json';
    await writeFile(path.join(bench.worktree, 'probe.sh'), probe);
    const server = await bench.model([call('Bash', { command: 'sh probe.sh 2>&1' }), DONE]);
    const trial = bench.start(server.url, { config: { env: { ANTHROPIC_API_KEY: '' } } });
    expect(await trial.end).toEqual(done);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer token-1');
    expect(toolResults(server.requests[1]!)[0]).toMatch(/^\.credentials\.json\n.*busy/);
    expect(await readFile(path.join(own, 'settings.json'), 'utf8')).toBe('{"model":"theirs"}');
    expect(await readFile(path.join(own, '.credentials.json'), 'utf8')).toContain('token-2');
    expect(server.requests[1]?.headers.authorization).toBe('Bearer token-2');
  });
});
