import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { answer, exec, program, type ResponsesTurn, say, toolOutputs, turn } from '../support/model/responses.ts';
import { CodexBench, missing, RESULT } from './codex-bench.ts';

const status = await sandboxStatus();

describe('a codex agent', () => {
  let bench: CodexBench;
  beforeEach(async (context) => {
    context.skip(missing !== null, missing ?? '');
    bench = await CodexBench.open('auto');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    expect(await bench.leftOver()).toEqual([]);
    await bench.close();
  });

  it('asks the guards also for tools that a program of a newer model uses', async () => {
    const deny = { kind: 'deny', guard: 'all', reason: 'nothing today' } as const;
    const server = await bench.model([
      turn(program('try { await tools.exec_command({ cmd: "touch a.txt" }) } catch (error) { text(String(error)) }')),
      turn(program('await tools.apply_patch("*** Begin Patch\\n*** Add File: b.txt\\n+x\\n*** End Patch\\n")')),
      turn(answer(RESULT)),
    ]);
    const trial = bench.start(server.url, { config: { model: 'gpt-6.1-sol' }, guard: async () => deny });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(await readdir(bench.worktree)).toEqual([]);
    expect(toolOutputs(server.requests[1]!)[0]).toContain('nothing today');
    expect(trial.usage()).toMatchObject({ requests: 3, costUsd: expect.any(Number) });
  });

  it('has no terminal that could be typed into without a guard', async () => {
    const terminal = { cmd: 'bash', tty: true, yield_time_ms: 300 };
    const server = await bench.model([
      turn({ kind: 'call', tool: 'exec_command', input: terminal }),
      turn(answer(RESULT)),
    ]);
    expect(await bench.start(server.url).end).toMatchObject({ kind: 'result' });
    expect(toolOutputs(server.requests[1]!)[0]).toContain('disabled');
  });

  it('has crashed when it is killed from within', async () => {
    const server = await bench.model([turn(exec('kill -9 $PPID')), turn(answer(RESULT))]);
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'crash' });
    expect(trial.usage()).toMatchObject({ inputTokens: server.sent.input, requests: 1 });
  });

  it('uses the login of the person when no key is given', async () => {
    const own = path.join(bench.base, 'own');
    await mkdir(own);
    await writeFile(path.join(own, 'auth.json'), JSON.stringify({ OPENAI_API_KEY: 'from-login' }));
    const server = await bench.model([turn(answer(RESULT))]);
    vi.stubEnv('CODEX_HOME', own);
    const trial = bench.start(server.url, { key: null });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(server.requests[0]?.headers.authorization).toBe('Bearer from-login');
    expect(await readdir(own)).toEqual(['auth.json']);
  });

  it('does not wait inside Codex for a limit to pass', async () => {
    const server = await bench.model({ kind: 'error', status: 429, headers: { 'retry-after': '3600' } });
    const end = await bench.start(server.url, { timeoutMs: 20_000 }).end;
    expect(end).toMatchObject({ kind: 'failed', failure: 'rate_limit' });
  });

  it('is asked once more for a result that cannot be read, and booked for both', async () => {
    const server = await bench.model([turn(say('All done!')), turn(answer(RESULT))]);
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'result', envelope: { summary: 'done' } });
    expect(JSON.stringify(server.requests[1]?.body.input)).toContain('could not be read');
    expect(new Set(trial.sessions).size).toBe(1);
    const { input, output } = server.sent;
    expect(trial.usage()).toMatchObject({ inputTokens: input, outputTokens: output, requests: 2 });
  });

  it('has failed when the second answer is no better', async () => {
    const server = await bench.model(turn(answer({ outcome: 'splendid', summary: '' })));
    const end = await bench.start(server.url).end;
    expect(end).toMatchObject({
      kind: 'failed',
      failure: 'invalid_result',
      message: expect.stringContaining('outcome'),
    });
    expect(server.requests).toHaveLength(2);
  });

  const usageLimit = { type: 'usage_limit_reached', message: 'limit', plan_type: 'plus', resets_at: 1_894_790_040 };
  it.each<[string, ResponsesTurn, object]>([
    ['auth', { kind: 'error', status: 401, body: { error: { message: 'Incorrect API key provided' } } }, {}],
    [
      'credit',
      {
        kind: 'error',
        status: 429,
        body: { error: { code: 'insufficient_quota', type: 'insufficient_quota', message: 'no quota' } },
      },
      {},
    ],
    ['rate_limit', { kind: 'error', status: 429 }, {}],
    ['rate_limit', { kind: 'error', status: 429, body: { error: usageLimit } }, { retryAt: 1_894_790_040_000 }],
    ['overloaded', { kind: 'error', status: 500 }, {}],
    ['overloaded', { kind: 'failed', code: 'server_is_overloaded', message: 'too many' }, {}],
    ['network', { kind: 'cut', items: [say('half')] }, {}],
    ['context_too_long', { kind: 'failed', code: 'context_length_exceeded', message: 'too long' }, {}],
  ])('says %s when the model answers with %o', async (failure, reply, more) => {
    const server = await bench.model(reply);
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'failed', failure, ...more });
    expect(trial.usage()).toMatchObject({ inputTokens: 0, requests: 0 });
  });

  it('books what a turn cost that failed later', async () => {
    const server = await bench.model([
      turn(exec('echo kept > kept.txt')),
      {
        kind: 'failed',
        code: 'context_length_exceeded',
        message: 'too long',
      },
    ]);
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'context_too_long' });
    expect(trial.usage()).toMatchObject({ inputTokens: server.sent.input, requests: 1, costUsd: expect.any(Number) });
    expect(await bench.read('kept.txt')).toBe('kept\n');
  });

  it('is ended after as many requests as it may make', async () => {
    const server = await bench.model(turn(exec('true')));
    const end = await bench.start(server.url, { maxTurns: 3 }).end;
    expect(end).toMatchObject({
      kind: 'failed',
      failure: 'turn_limit',
      message: expect.stringContaining('3 requests'),
    });
    expect(server.requests.length).toBeLessThan(12);
  });

  it('runs out of time', async () => {
    const server = await bench.model({ kind: 'hang' });
    const end = await bench.start(server.url, { timeoutMs: 2500 }).end;
    expect(end).toMatchObject({ kind: 'failed', failure: 'timeout', message: expect.stringContaining('2.5 s') });
  });

  it('keeps of its home only what a later run can go on with, and no key', async () => {
    const server = await bench.model([
      turn(exec('env; cat "$CODEX_HOME/config.toml"; echo x >> "$CODEX_HOME/hooks.json"')),
      turn(answer(RESULT)),
    ]);
    const trial = bench.start(server.url);
    await trial.end;
    const [seen = ''] = toolOutputs(server.requests[1]!);
    expect(seen).not.toContain('dummy');
    if (status.available) expect(seen).toContain('hooks.json: Read-only file system');
    const [run = ''] = await readdir(path.join(bench.host.dataDir, 'codex'));
    expect(await readdir(path.join(bench.host.dataDir, 'codex', run, 'home'))).toEqual(['sessions']);
    const files = await readdir(path.join(bench.host.dataDir, 'codex', run), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile()))
      expect(await readFile(path.join(file.parentPath, file.name), 'utf8')).not.toContain('dummy');
  });
});
