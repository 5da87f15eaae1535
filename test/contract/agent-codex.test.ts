import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GuardVerdict, ToolCall } from '../../packages/daemon/src/ports.ts';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import {
  answer,
  exec,
  patch,
  type ResponsesServer,
  type ResponsesTurn,
  say,
  startResponsesServer,
  toolOutputs,
  turn,
} from '../support/model/responses.ts';
import { BRIEF } from './agent-bench.ts';
import { CodexBench, installCodex } from './codex-bench.ts';

const codex = await installCodex();
const program = 'program' in codex ? codex.program : '';
if ('missing' in codex) console.log(`skipped: the codex agent, since ${codex.missing}`);
const status = await sandboxStatus();
if (!status.available) console.log(`skipped: the codex agent in a sandbox, since ${status.why}`);

const RESULT = { outcome: 'pr_ready', summary: 'done', open_questions: null };
const REVIEW = {
  outcome: 'approved',
  summary: 'fine',
  review: { criteria: ['c1', 'c2'].map((id) => ({ id, met: true, evidence: 'seen' })), comments: [] },
};

let bench: CodexBench;
let model: ResponsesServer | undefined;
const script = async (...turns: ResponsesTurn[]) => {
  model = await startResponsesServer(turns);
  return model;
};
const always = async (reply: ResponsesTurn) => {
  model = await startResponsesServer(() => reply);
  return model;
};
const openBench = (sandbox: 'auto' | 'off') => async () => {
  bench = await CodexBench.open(program, sandbox);
};
const closeBench = async () => {
  await model?.stop();
  model = undefined;
  expect(await bench.leftOver()).toEqual([]);
  await bench.close();
};

const variants = (['off', 'auto'] as const).filter((sandbox) => sandbox === 'off' || status.available);

describe.skipIf('missing' in codex).each(variants)('the codex agent, sandbox %s', (sandbox) => {
  beforeEach(openBench(sandbox));
  afterEach(closeBench);

  it('writes with its tools and hands back a result, its tokens and their price', async () => {
    const server = await script(
      turn(say('I begin.'), exec('echo made > made.txt; echo seen')),
      turn(patch('*** Add File: notes/a.md', '+patched')),
      turn(answer(RESULT)),
    );
    const trial = bench.start(server.url);
    expect(await trial.end).toEqual({ kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } });
    expect(await bench.read('made.txt')).toBe('made\n');
    expect(await bench.read('notes/a.md')).toBe('patched\n');
    expect(trial.output()).toContain('I begin.\n$ echo made > made.txt; echo seen\nseen\nadd notes/a.md\n');
    expect(trial.sessions).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    const { input, cached, output } = server.sent;
    const costUsd = ((input - cached) * 5 + cached * 0.5 + output * 30) / 1_000_000;
    expect(trial.usage()).toEqual({
      inputTokens: input,
      outputTokens: output,
      requests: 3,
      costUsd: expect.closeTo(costUsd, 9),
    });
    expect(server.others).toEqual([]);
    const format = server.requests[0]?.body.text?.format;
    expect(format).toMatchObject({
      type: 'json_schema',
      strict: true,
      schema: { required: expect.arrayContaining(['outcome']) },
    });
  });

  it('asks the guards before each tool use: a denial is heard, a rewrite is done instead', async () => {
    const calls: ToolCall[] = [];
    const guard = async (call: ToolCall): Promise<GuardVerdict> => {
      calls.push(call);
      const input = JSON.stringify(call.input);
      if (input.includes('secret')) return { kind: 'deny', guard: 'secrets', reason: 'secrets stay where they are' };
      if (!input.includes('big.log')) return { kind: 'allow' };
      return { kind: 'rewrite', guard: 'logs', reason: 'searched', input: { command: 'echo searched > found.txt' } };
    };
    const server = await script(
      turn(exec('cat secret.key > stolen.txt')),
      turn(exec('cat big.log')),
      turn(patch('*** Add File: ok.txt', '+ok', '*** Add File: secret.txt', '+no')),
      turn(patch('*** Add File: ok.txt', '+ok')),
      turn(answer(RESULT)),
    );
    const trial = bench.start(server.url, { guard });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect((await readdir(bench.worktree)).sort()).toEqual(['found.txt', 'ok.txt']);
    expect(calls).toEqual([
      { tool: 'Bash', input: { command: 'cat secret.key > stolen.txt' } },
      { tool: 'Bash', input: { command: 'cat big.log' } },
      { tool: 'Write', input: { file_path: path.join(bench.worktree, 'ok.txt'), content: 'ok' } },
      { tool: 'Write', input: { file_path: path.join(bench.worktree, 'secret.txt'), content: 'no' } },
      { tool: 'Write', input: { file_path: path.join(bench.worktree, 'ok.txt'), content: 'ok' } },
    ]);
    expect(toolOutputs(server.requests[1]!)).toEqual([expect.stringContaining('secrets stay where they are')]);
    expect(trial.output()).not.toContain('does not ask the guards');
  });

  it('goes on when it wanted to end too early', async () => {
    const reasons = ['the test gate fails'];
    const server = await script(turn(answer(RESULT)), turn(exec('echo fixed > fixed.txt')), turn(answer(RESULT)));
    const trial = bench.start(server.url, { beforeStop: async () => reasons.pop() ?? null });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(await bench.read('fixed.txt')).toBe('fixed\n');
    expect(JSON.stringify(server.requests[1]?.body.input)).toContain('the test gate fails');
  });

  it('cannot write as a reviewer, but read', async () => {
    await writeFile(path.join(bench.worktree, 'code.txt'), 'the code');
    const server = await script(
      turn(exec('cat code.txt; echo mine > code.txt; touch new.txt')),
      turn(patch('*** Add File: patched.txt', '+x')),
      turn(answer(REVIEW)),
    );
    const trial = bench.start(server.url, { brief: { ...BRIEF, mode: 'review' } });
    expect(await trial.end).toMatchObject({ kind: 'result', envelope: { outcome: 'approved' } });
    expect(await readdir(bench.worktree)).toEqual(['code.txt']);
    expect(await bench.read('code.txt')).toBe('the code');
    expect(toolOutputs(server.requests[1]!)[0]).toMatch(/the code[\s\S]*Read-only file system/);
  });

  it('cannot write outside its worktree, nor see another run', async () => {
    const outside = path.join(bench.base, 'outside.txt');
    const server = await script(
      turn(exec(`touch '${outside}' '${bench.host.root}/in-root.txt' /var/tmp/tidemill-escaped`)),
      turn(answer(RESULT)),
    );
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(await readdir(bench.host.root)).toEqual([]);
    expect((await readdir(bench.base)).sort()).toEqual(['data', 'repository']);
    expect(await readdir('/var/tmp')).not.toContain('tidemill-escaped');
    expect(toolOutputs(server.requests[1]!)[0]).toContain('Read-only file system');
  });

  it('is stopped at once, with the command it runs', async () => {
    const server = await script(turn(exec('echo $$ > pid.txt; sleep 1000')), turn(answer(RESULT)));
    const trial = bench.start(server.url);
    await trial.says('$ echo');
    const startedAt = performance.now();
    await trial.session.stop();
    expect(performance.now() - startedAt).toBeLessThan(6500);
    expect(await trial.end).toEqual({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null });
    const { input, output } = server.sent;
    expect(trial.usage()).toMatchObject({ inputTokens: input, outputTokens: output, requests: 1 });
  });
});

describe.skipIf('missing' in codex)('a codex agent', () => {
  beforeEach(openBench('auto'));
  afterEach(closeBench);

  it('is asked once more for a result that cannot be read, and booked for both', async () => {
    const server = await script(turn(say('All done!')), turn(answer(RESULT)));
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'result', envelope: { summary: 'done' } });
    expect(JSON.stringify(server.requests[1]?.body.input)).toContain('could not be read');
    expect(new Set(trial.sessions).size).toBe(1);
    const { input, output } = server.sent;
    expect(trial.usage()).toMatchObject({ inputTokens: input, outputTokens: output, requests: 2 });
  });

  it('has failed when the second answer is no better', async () => {
    const server = await always(turn(answer({ outcome: 'splendid', summary: '' })));
    const end = await bench.start(server.url).end;
    expect(end).toMatchObject({
      kind: 'failed',
      failure: 'invalid_result',
      message: expect.stringContaining('outcome'),
    });
    expect(server.requests).toHaveLength(2);
  });

  it('goes on with an earlier session, which is not booked twice', async () => {
    const server = await script(turn(say('one'), answer(RESULT)), turn(exec('true')), turn(answer(RESULT)));
    const first = bench.start(server.url, { brief: { ...BRIEF, prompt: 'The first prompt.' } });
    await first.end;
    const before = { ...server.sent };
    const second = bench.start(server.url, { resume: first.sessions[0]!, brief: { ...BRIEF, prompt: 'And on.' } });
    expect(await second.end).toMatchObject({ kind: 'result' });
    expect(second.sessions).toEqual(first.sessions);
    expect(JSON.stringify(server.requests[1]?.body.input)).toMatch(/The first prompt\.[\s\S]*And on\./);
    expect(first.usage()).toMatchObject({ inputTokens: before.input, outputTokens: before.output, requests: 1 });
    expect(second.usage()).toMatchObject({
      inputTokens: server.sent.input - before.input,
      outputTokens: server.sent.output - before.output,
      requests: 2,
    });
  });

  it('begins anew when the session is gone', async () => {
    const server = await script(turn(answer(RESULT)));
    const trial = bench.start(server.url, { resume: '01a1e176-9c02-7a11-b2b1-a376798fcff5' });
    expect(await trial.end).toMatchObject({ kind: 'result' });
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
    const server = await always(reply);
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'failed', failure, exitCode: 1, ...more });
    expect(trial.usage()).toMatchObject({ inputTokens: 0, requests: 0 });
  });

  it('books what a turn cost that failed later', async () => {
    const server = await script(turn(exec('echo kept > kept.txt')), {
      kind: 'failed',
      code: 'context_length_exceeded',
      message: 'too long',
    });
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'context_too_long' });
    expect(trial.usage()).toMatchObject({ inputTokens: server.sent.input, requests: 1, costUsd: expect.any(Number) });
    expect(await bench.read('kept.txt')).toBe('kept\n');
  });

  it('is ended after as many requests as it may make', async () => {
    const server = await always(turn(exec('true')));
    const end = await bench.start(server.url, { maxTurns: 3 }).end;
    expect(end).toMatchObject({
      kind: 'failed',
      failure: 'turn_limit',
      message: expect.stringContaining('3 requests'),
    });
    expect(server.requests.length).toBeLessThan(12);
  });

  it('runs out of time', async () => {
    const server = await always({ kind: 'hang' });
    const end = await bench.start(server.url, { timeoutMs: 2500 }).end;
    expect(end).toMatchObject({ kind: 'failed', failure: 'timeout', message: expect.stringContaining('2.5 s') });
  });

  it('has no price for a model nobody knows, but counts its requests', async () => {
    const server = await script(turn(answer(RESULT)));
    const trial = bench.start(server.url, { model: 'gpt-of-tomorrow' });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(trial.usage()).toEqual({ inputTokens: 100, outputTokens: 10, requests: 1, costUsd: null });
  });

  it('is missed with words that help', async () => {
    const end = await bench.start('http://127.0.0.1:9', { program: './no-codex' }).end;
    expect(end).toMatchObject({ kind: 'failed', failure: 'spawn' });
    expect(end).toHaveProperty('message', expect.stringMatching(/no-codex does not exist; install Codex with/));
  });

  it('keeps of its home only what a later run can go on with, and no key', async () => {
    const server = await script(
      turn(exec('env; cat "$CODEX_HOME/config.toml"; echo x >> "$CODEX_HOME/hooks.json"')),
      turn(answer(RESULT)),
    );
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
