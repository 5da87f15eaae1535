import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GuardVerdict, ToolCall } from '../../packages/daemon/src/ports.ts';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { answer, exec, patch, say, toolOutputs, turn } from '../support/model/responses.ts';
import { BRIEF, MOST_MS } from './agent-bench.ts';
import { CodexBench, missing, RESULT } from './codex-bench.ts';

const status = await sandboxStatus();

const REVIEW = {
  outcome: 'approved',
  summary: 'fine',
  review: { criteria: ['c1', 'c2'].map((id) => ({ id, met: true, evidence: 'seen' })), comments: [] },
};

describe.each(['off', 'auto'] as const)('the codex agent, sandbox %s', (sandbox) => {
  let bench: CodexBench;
  beforeEach(async (context) => {
    context.skip(missing !== null, missing ?? '');
    context.skip(sandbox === 'auto' && !status.available, status.why);
    bench = await CodexBench.open(sandbox);
  });
  afterEach(async () => {
    expect(await bench.leftOver()).toEqual([]);
    await bench.close();
  });

  it('writes with its tools and hands back a result, its tokens and their price', async () => {
    const server = await bench.model([
      turn(say('I begin.'), exec('echo made > made.txt; echo seen')),
      turn(patch('*** Add File: notes/a.md', '+patched')),
      turn(answer(RESULT)),
    ]);
    const trial = bench.start(server.url);
    expect(await trial.end).toEqual({ kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } });
    expect(await bench.read('made.txt')).toBe('made\n');
    expect(await bench.read('notes/a.md')).toBe('patched\n');
    expect(trial.output()).toContain('I begin.\n$ echo made > made.txt; echo seen\n  seen\nadd notes/a.md\n');
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
    const server = await bench.model([
      turn(exec('cat secret.key > stolen.txt')),
      turn(exec('cat big.log')),
      turn(patch('*** Add File: ok.txt', '+ok', '*** Add File: secret.txt', '+no')),
      turn(patch('*** Add File: ok.txt', '+ok')),
      turn(answer(RESULT)),
    ]);
    const trial = bench.start(server.url, { guard });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect((await readdir(bench.worktree)).sort()).toEqual(['found.txt', 'ok.txt']);
    const cwd = bench.worktree;
    expect(calls).toEqual([
      { tool: 'Bash', cwd, input: { command: 'cat secret.key > stolen.txt' } },
      { tool: 'Bash', cwd, input: { command: 'cat big.log' } },
      { tool: 'Write', cwd, input: { file_path: path.join(bench.worktree, 'ok.txt'), content: 'ok' } },
      { tool: 'Write', cwd, input: { file_path: path.join(bench.worktree, 'secret.txt'), content: 'no' } },
      { tool: 'Write', cwd, input: { file_path: path.join(bench.worktree, 'ok.txt'), content: 'ok' } },
    ]);
    expect(toolOutputs(server.requests[1]!)).toEqual([expect.stringContaining('secrets stay where they are')]);
    expect(trial.output()).not.toContain('does not ask the guards');
  });

  it('shows its turns, its tools and its own plan', async () => {
    const plan = (...status: string[]) => ({
      kind: 'call' as const,
      tool: 'update_plan',
      input: { plan: status.map((each, index) => ({ step: `step ${index + 1}`, status: each })) },
    });
    const server = await bench.model([
      turn(plan('in_progress', 'pending')),
      turn(exec('echo hi')),
      turn(plan('completed', 'in_progress')),
      turn(answer(RESULT)),
    ]);
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'result' });
    const { progress } = trial.seen;
    expect(progress).toContainEqual({ tools: { used: 1, current: 'echo hi' } });
    expect(progress).toContainEqual({ tools: { used: 1, current: null } });
    expect(progress.findLast(({ todo }) => todo)?.todo).toEqual([
      { text: 'step 1', status: 'done' },
      { text: 'step 2', status: 'pending' },
    ]);
    expect(progress.findLast(({ turns }) => turns)?.turns).toEqual({ used: expect.any(Number), limit: 50 });
  });

  it('continues when it tried to end too early', async () => {
    const reasons = ['the test gate fails'];
    const server = await bench.model([
      turn(answer(RESULT)),
      turn(exec('echo fixed > fixed.txt')),
      turn(answer(RESULT)),
    ]);
    const trial = bench.start(server.url, { beforeStop: async () => reasons.pop() ?? null });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(await bench.read('fixed.txt')).toBe('fixed\n');
    expect(JSON.stringify(server.requests[1]?.body.input)).toContain('the test gate fails');
  });

  it('ends with a question without being told that nothing was changed', async () => {
    let checks = 0;
    const beforeStop = async () => {
      checks += 1;
      return 'You have not changed any file yet.';
    };
    const option = { label: '8080', description: 'as now', recommended: true, implications: null };
    const port = { id: 'port', type: 'clarifying', text: 'Which port?', context: null, options: [option] };
    const question = { ...port, defaultAnswer: '8080', allowFreeText: null, tags: null };
    const asks = { outcome: 'needs_info', summary: 'cannot choose', declares: null, open_questions: [question] };
    const server = await bench.model([turn(answer(asks))]);
    const trial = bench.start(server.url, { beforeStop });
    expect(await trial.end).toMatchObject({
      kind: 'result',
      envelope: {
        outcome: 'needs_info',
        open_questions: [
          { id: 'port', type: 'clarifying', text: 'Which port?', options: [{ label: '8080', recommended: true }] },
        ],
      },
    });
    expect([checks, server.requests.length]).toEqual([0, 1]);
  });

  it('cannot write as a reviewer, but read', async () => {
    await writeFile(path.join(bench.worktree, 'code.txt'), 'the code');
    const server = await bench.model([
      turn(exec('cat code.txt; echo mine > code.txt; touch new.txt')),
      turn(patch('*** Add File: patched.txt', '+x')),
      turn(answer(REVIEW)),
    ]);
    const trial = bench.start(server.url, { brief: { ...BRIEF, mode: 'review' } });
    expect(await trial.end).toMatchObject({ kind: 'result', envelope: { outcome: 'approved' } });
    expect(await readdir(bench.worktree)).toEqual(['code.txt']);
    expect(await bench.read('code.txt')).toBe('the code');
    const output = toolOutputs(server.requests[1]!)[0];
    expect(output).toContain('the code');
    expect(output).toContain('Read-only file system');
  });

  it('cannot write outside its worktree, nor see another run', async () => {
    const outside = path.join(bench.base, 'outside.txt');
    const server = await bench.model([
      turn(exec(`touch '${outside}' '${bench.host.root}/in-root.txt' /var/tmp/tidemill-escaped`)),
      turn(answer(RESULT)),
    ]);
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(await readdir(bench.host.root)).toEqual([]);
    expect((await readdir(bench.base)).sort()).toEqual(['data', 'repository']);
    expect(await readdir('/var/tmp')).not.toContain('tidemill-escaped');
    expect(toolOutputs(server.requests[1]!)[0]).toContain('Read-only file system');
  });

  it('is stopped, with the command it runs, also when that does not hear', async () => {
    const deaf = `trap '' TERM; echo ready > ready.txt; while :; do sleep 1; done`;
    const server = await bench.model([turn(exec(deaf)), turn(answer(RESULT))]);
    const trial = bench.start(server.url);
    await expect.poll(() => bench.read('ready.txt').catch(() => ''), { timeout: 30_000 }).toBe('ready\n');
    const startedAt = performance.now();
    await trial.session.stop();
    expect(performance.now() - startedAt).toBeLessThan(MOST_MS);
    expect(await trial.end).toEqual({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null });
    const { input, output } = server.sent;
    expect(trial.usage()).toMatchObject({ inputTokens: input, outputTokens: output, requests: 1 });
  });
});
