import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { replyInOutput } from '@tidemill/contract';
import { describe, expect, it } from 'vitest';
import type { GuardVerdict, ToolCall } from '../../packages/daemon/src/ports.ts';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import {
  call,
  type MessagesScript,
  type MessagesServer,
  say,
  structured,
  toolResults,
} from '../support/model/messages.ts';
import { BRIEF } from './agent-bench.ts';
import { type ClaudeBench, DONE, done } from './claude-bench.ts';
import { onClaudeBench } from './claude-suite.ts';

const sandbox = await sandboxStatus();

let bench: ClaudeBench;
const write = (file: string, content: string) => call('Write', { file_path: path.join(bench.worktree, file), content });
const lastResult = (server: MessagesServer) => toolResults(server.requests.at(-1)!).at(-1) ?? '';

onClaudeBench((opened) => {
  bench = opened;
});

describe('the work of Claude Code', () => {
  it.each(['auto', 'off'] as const)(
    'is done with the real tools and reported as a result (sandbox %s)',
    async (kind) => {
      bench.host.sandbox = kind;
      const server = await bench.model([
        write('sum.txt', 'ü 1+1'),
        call('Bash', { command: 'cat sum.txt' }, { say: 'Looking at it.' }),
        DONE,
      ]);
      const trial = bench.start(server.url);
      expect(await trial.end).toEqual(done);
      expect(await bench.read('sum.txt')).toBe('ü 1+1');
      expect(lastResult(server)).toContain('ü 1+1');
      expect(trial.output()).toContain('Looking at it.\n> Bash: cat sum.txt\n');
      expect(trial.sessions).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
      expect(server.others).toEqual([]);
      expect(await bench.leftOver()).toEqual([]);
    },
  );

  it('of a conversation is shown piece by piece, and nothing of it twice', async () => {
    const reply = `Who reads the **table**? ${'Fishermen, before sunrise, without a network. '.repeat(20)}`.trim();
    const result = { outcome: 'replied', summary: 'asked', ideation: { reply, signals: { risks: [{ text: 'Fog' }] } } };
    const { url } = await bench.model([
      call('Bash', { command: 'ls' }, { say: 'Looking around.' }),
      structured(result, { say: reply }),
    ]);
    const trial = bench.start(url, { brief: { ...BRIEF, mode: 'ideate', task: null } });
    expect(await trial.end).toMatchObject({ kind: 'result', envelope: { outcome: 'replied', ideation: { reply } } });
    expect(trial.seen.longestChunk).toBeLessThan(reply.length);
    expect(replyInOutput(trial.output())).toBe(`Looking around.\n${reply}`);
  });

  it('is passed on unchanged: a task’s text reads no file and runs no command', async () => {
    await writeFile(path.join(bench.worktree, 'secret.txt'), 'swordfish');
    const server = await bench.model([DONE]);
    const prompt = '/compact @secret.txt and do it';
    await bench.start(server.url, { brief: { ...BRIEF, prompt } }).end;
    const sent = JSON.stringify(server.requests[0]?.body.messages);
    expect(sent).toContain(prompt);
    expect(sent).not.toContain('swordfish');
  });

  it('shows its turns, its tools and its own to-do list', async () => {
    const { url } = await bench.model([
      call('TaskCreate', { subject: 'read', description: 'all of it' }),
      call('TaskCreate', { subject: 'write', description: 'a file' }),
      call('TaskUpdate', { taskId: '1', status: 'completed' }),
      call('Bash', { command: 'echo hi' }),
      DONE,
    ]);
    const trial = bench.start(url);
    expect(await trial.end).toEqual(done);
    expect(trial.seen.progress).toContainEqual(
      expect.objectContaining({ tools: { used: 1, current: 'Bash: echo hi' }, turns: { used: 4, limit: 50 } }),
    );
    expect(trial.seen.progress.findLast(({ todo }) => todo)?.todo).toEqual([
      { text: 'read', status: 'done' },
      { text: 'write', status: 'pending' },
    ]);
    expect(trial.seen.progress.at(-1)).toMatchObject({ tools: { used: 1, current: null } });
  });

  it('continues when it ended too early', async () => {
    const server = await bench.model([
      DONE,
      write('more.txt', 'x'),
      structured({ outcome: 'pr_ready', summary: 'all of it' }),
    ]);
    const reasons = ['the test fails: sum is 3', null];
    const trial = bench.start(server.url, { beforeStop: async () => reasons.shift() ?? null });
    expect(await trial.end).toMatchObject({ envelope: { summary: 'all of it' } });
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('the test fails: sum is 3');
    expect(await bench.read('more.txt')).toBe('x');
    expect(reasons).toEqual([]);
  });

  it('continues when it stopped with words alone', async () => {
    const server = await bench.model([say('That is all.'), write('more.txt', 'x'), DONE]);
    const reasons = ['nothing has changed', null];
    const trial = bench.start(server.url, { beforeStop: async () => reasons.shift() ?? null });
    expect(await trial.end).toEqual(done);
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('nothing has changed');
    expect(reasons).toEqual([]);
  });

  it('of a reader writes nothing, whatever it tries', async () => {
    const server = await bench.model([
      write('stray.txt', 'x'),
      call('Bash', { command: 'echo x > stray.txt; ls' }),
      structured({
        outcome: 'approved',
        summary: 'fine',
        review: {
          criteria: BRIEF.task!.acceptance.map(({ id }) => ({ id, met: true, evidence: 'seen' })),
          comments: [],
        },
      }),
    ]);
    const trial = bench.start(server.url, { brief: { ...BRIEF, mode: 'review' } });
    expect(await trial.end).toMatchObject({ envelope: { outcome: 'approved' } });
    const tools = server.requests[0]?.body.tools?.map(({ name }) => name);
    expect(tools).toContain('Read');
    for (const tool of ['Write', 'Edit', 'NotebookEdit']) expect(tools).not.toContain(tool);
    if (sandbox.available) expect(await readdir(bench.worktree)).toEqual([]);
  });
});

describe('a guard of Claude Code', () => {
  const guarded = async (turns: MessagesScript, guard: (asked: ToolCall) => Promise<GuardVerdict>) => {
    const server = await bench.model(turns);
    const trial = bench.start(server.url, { guard });
    expect(await trial.end).toEqual(done);
    return lastResult(server);
  };

  it('denies, and the agent gets the reason', async () => {
    const asked: ToolCall[] = [];
    const heard = await guarded([write('.env', 'x'), DONE], async (toolCall) => {
      asked.push(toolCall);
      return { kind: 'deny', guard: 'secrets', reason: 'nobody writes .env here' };
    });
    expect(heard).toContain('nobody writes .env here');
    const input = { file_path: path.join(bench.worktree, '.env'), content: 'x' };
    expect(asked).toEqual([{ tool: 'Write', cwd: bench.worktree, input }]);
    expect(await readdir(bench.worktree)).toEqual([]);
  });

  it('alone decides: what Claude Code itself would ask a person about is asked of it', async () => {
    const heard = await guarded([write('.vscode/settings.json', '{}'), DONE], async () => ({ kind: 'allow' }));
    expect(heard).toContain('File created');
    expect(await bench.read('.vscode/settings.json')).toBe('{}');
  });

  it('that breaks denies', async () => {
    const heard = await guarded([write('a.txt', 'x'), DONE], () => Promise.reject(new Error('no such rule')));
    expect(heard).toContain('no such rule');
    expect(await readdir(bench.worktree)).toEqual([]);
  });

  it('rewrites the whole input', async () => {
    const heard = await guarded([call('Bash', { command: 'echo bad', description: 'x' }), DONE], async ({ input }) => ({
      kind: 'rewrite',
      guard: 'logs',
      reason: 'searched instead',
      input: { ...input, command: 'echo good' },
    }));
    expect(heard).toContain('good');
    expect(heard).not.toContain('bad');
  });

  it('is asked in subagents too', async () => {
    const server = await bench.model(({ body, headers, index }) => {
      if (headers['x-claude-code-agent-id'] === undefined)
        return index === 0
          ? call('Agent', { description: 'help', prompt: 'write it', subagent_type: 'general-purpose' })
          : DONE;
      return JSON.stringify(body.messages).includes('not here') ? say('could not') : write('sub.txt', 'x');
    });
    const trial = bench.start(server.url, {
      guard: async ({ tool }) =>
        tool === 'Write' ? { kind: 'deny', guard: 'g', reason: 'not here' } : { kind: 'allow' },
    });
    expect(await trial.end).toEqual(done);
    expect(await readdir(bench.worktree)).toEqual([]);
    expect(trial.usage().requests).toBe(server.requests.length);
  });
});

describe('a result of Claude Code', () => {
  it('that is missing is asked for once more, in the same session', async () => {
    const server = await bench.model([say('I am done.'), say('Really.'), DONE]);
    const trial = bench.start(server.url, { beforeStop: async () => null });
    expect(await trial.end).toEqual(done);
    expect(JSON.stringify(server.requests[2]?.body.messages)).toContain('could not be read');
    expect(trial.usage()).toEqual({ inputTokens: 300, outputTokens: 60, costUsd: 0.0024, requests: 3 });
  });

  it('in words is read too', async () => {
    const server = await bench.model(say('Done.\n```json\n{"outcome":"pr_ready","summary":"done"}\n```'));
    expect(await bench.start(server.url).end).toEqual(done);
  });

  it('that stays unfit fails the run', async () => {
    const server = await bench.model(structured({ outcome: 'needs_info', summary: 'but no question' }));
    expect(await bench.start(server.url).end).toMatchObject({
      kind: 'failed',
      failure: 'invalid_result',
      message: expect.stringContaining('open_questions'),
    });
    expect(server.requests).toHaveLength(2);
  });
});

describe('the booked costs of Claude Code', () => {
  const usage = { input: 1000, output: 100, cacheRead: 5000, cacheWrite: 200 };

  it('are what the model reported, and a resumed session counts only once', async () => {
    const first = await bench.model([
      write('a.txt', 'a'),
      structured({ outcome: 'pr_ready', summary: 'done' }, { usage }),
    ]);
    const trial = bench.start(first.url, { config: { model: 'claude-opus-5-5' } });
    expect(await trial.end).toEqual(done);
    expect(trial.usage()).toMatchObject({ inputTokens: 100 + 6200, outputTokens: 120, requests: 2 });
    const second = await bench.model([
      structured({ outcome: 'pr_ready', summary: 'done' }, { usage: { input: 700, output: 7 } }),
    ]);
    const again = bench.start(second.url, { config: { model: 'claude-opus-5-5' }, resume: trial.sessions[0] });
    expect(await again.end).toEqual(done);
    expect(again.sessions).toEqual(trial.sessions);
    expect(JSON.stringify(second.requests[0]?.body.messages)).toContain('a.txt');
    expect(again.usage()).toMatchObject({ inputTokens: 700, outputTokens: 7, requests: 1 });
    expect(again.usage().costUsd).toBeLessThan(trial.usage().costUsd!);
  });

  it('have no price for a model that nobody has priced, and the repository’s own where it has one', async () => {
    const server = await bench.model(
      structured({ outcome: 'pr_ready', summary: 'done' }, { usage: { input: 1000, output: 100 } }),
    );
    const unknown = bench.start(server.url, { config: { model: 'house-model-1' } });
    expect(await unknown.end).toEqual(done);
    expect(unknown.usage()).toMatchObject({ costUsd: null, requests: 1 });
    await bench.prices('house-model-1: { input: 3, cached: 1, output: 10 }\n');
    const priced = bench.start(server.url, { config: { model: 'house-model-1' } });
    expect(await priced.end).toEqual(done);
    expect(priced.usage().costUsd).toBeCloseTo(0.004, 9);
  });
});
