import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GuardVerdict } from '../../packages/daemon/src/ports.ts';
import { acpStarter, DONE, type FakeScript, fake, RESULT, runs, type Step } from './acp-bench.ts';
import { AgentBench } from './agent-bench.ts';

describe('an ACP agent that does something wrong', () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await AgentBench.open('off');
  });
  afterEach(async () => {
    expect(await bench.leftOver()).toEqual([]);
    await bench.close();
  });
  const start = (script: FakeScript) => acpStarter(bench, fake(script));

  it('may print other things among its messages', async () => {
    const noise = 'hello\n{"a":1}\n[1]\nnull\n{"jsonrpc":"2.0","result":\n\n{"jsonrpc":"2.0"}\n';
    const steps = [
      { print: noise },
      { update: { sessionUpdate: 'brand_new', x: 1 } },
      { update: { sessionUpdate: 'agent_message_chunk' } },
      { update: {} },
      { print: '{"jsonrpc":"2.0","method":"session/update"}\n{"jsonrpc":"2.0","method":"_vendor/news","params":{}}\n' },
      { request: { method: 'fs/write_text_file', params: { path: '/etc/x', content: '' } } },
      { request: { method: 'session/request_permission', params: { nothing: true } } },
      { say: RESULT },
    ];
    const trial = start({ turns: [steps] })();
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toMatch(/^hello\n\{"a":1\}\n\[1\]\n/);
    expect(trial.output().match(/answer \{"code":-326\d\d/g)).toHaveLength(2);
  });

  it('costs us no memory when it sends an update without end', async () => {
    const before = process.memoryUsage().rss;
    const trial = start({ turns: [[{ pad: 100 }, { say: RESULT }]] })();
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toContain('more than 8 MB is left out');
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it('has crashed when it answers without end', async () => {
    const huge = start({ turns: [[{ print: '{"jsonrpc":"2.0","id":"q","result":"' }, { flood: 9 }]] })();
    expect(await huge.end).toMatchObject({
      kind: 'failed',
      failure: 'crash',
      message: expect.stringContaining('8 MB'),
    });
  });

  it('is asked again when it says nothing of its result once', async () => {
    const trial = start({ turns: [[{ say: 'All done.' }], [{ echo: true }, { say: RESULT }]] })();
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toContain('no JSON object with an "outcome" was found');
  });

  it('fails when it hands in a wrong result, and then none or a wrong one again', async () => {
    const wrong = { say: '{"outcome":"approved"}' };
    const end = await start({ turns: [[wrong]] })().end;
    expect(end).toMatchObject({ kind: 'failed', failure: 'invalid_result' });
    expect(end).toHaveProperty('message', expect.stringContaining('is not possible in mode implement'));
    expect(await start({ turns: [[wrong], [{ say: 'Why?' }]] })().end).toMatchObject({ failure: 'no_result' });
  });

  it('is ended when it goes on and on', async () => {
    const tool = (id: number): Step[] => [
      { update: { sessionUpdate: 'tool_call', toolCallId: `t${id}`, title: 'look', status: 'pending' } },
      { update: { sessionUpdate: 'tool_call_update', toolCallId: `t${id}`, status: 'completed' } },
    ];
    const steps = [
      ...Array.from({ length: 8 }, (_, id) => tool(id)).flat(),
      { wait: true },
      { end: { stopReason: 'cancelled' } },
    ];
    expect(await start({ turns: [steps] })({ maxTurns: 5 }).end).toMatchObject({ failure: 'turn_limit' });
    const told = [{ say: 'x' }, { end: { stopReason: 'max_turn_requests' } }];
    expect(await start({ turns: [told] })().end).toMatchObject({ failure: 'turn_limit' });
    expect(await start({ turns: [[{ end: { stopReason: 'refusal' } }]] })().end).toMatchObject({ failure: 'refused' });
  });

  it('fails to start when it speaks another version', async () => {
    const end = await start({ turns: [[]], hello: { protocolVersion: 7 } })().end;
    expect(end).toMatchObject({ failure: 'spawn', message: expect.stringContaining('version 7') });
  });

  it.each([
    [{ code: -32000, message: 'Authentication required' }, 'auth'],
    [{ code: -32603, message: 'Internal error: invalid x-api-key' }, 'auth'],
    [
      { code: -32603, message: 'Internal error: Credit balance is too low', data: { errorKind: 'billing_error' } },
      'credit',
    ],
    [{ code: -32603, message: 'Internal error', data: { details: '429 Too Many Requests' } }, 'rate_limit'],
    [{ code: -32603, message: 'API Error: 529 Overloaded' }, 'overloaded'],
    [{ code: -32603, message: 'Internal error: API Error: 500 Internal server error.' }, 'overloaded'],
    [{ code: -32603, message: 'Prompt is too long: 210000 tokens > 200000 maximum' }, 'context_too_long'],
    [{ code: -32603, message: 'Session too large to compact - context exceeds model limit' }, 'context_too_long'],
    [{ code: -32603, message: 'fetch failed: ECONNREFUSED 127.0.0.1:9' }, 'network'],
    [{ code: -32603, message: 'Internal error' }, 'crash'],
  ])('has its failure classified: %j', async (error, failure) => {
    const end = await start({ turns: [[{ fail: error }]] })().end;
    expect(end).toMatchObject({ kind: 'failed', failure });
    expect(end).toHaveProperty('message', expect.stringContaining(error.message));
  });

  it('fails with the retry time that it reports when it is out of its limit', async () => {
    const error = { code: -32603, message: 'Rate limit reached, try again in 90 s' };
    const end = (await start({ turns: [[{ fail: error }]] })().end) as { retryAt: number };
    expect(end.retryAt - Date.now()).toBeGreaterThan(80_000);
    expect(end.retryAt - Date.now()).toBeLessThan(91_000);
    const sessionError = { code: -32000, message: 'Authentication required' };
    expect(await start({ turns: [[]], sessionError })().end).toMatchObject({ failure: 'auth' });
  });

  it.each([
    ['only for ever', [{ optionId: 'always', name: 'Always', kind: 'allow_always' }]],
    ['not at all', []],
  ])('is denied a permission that can be given %s', async (_how, options) => {
    const trial = start({ turns: [[runs('ls', { options }), { say: RESULT }]] })();
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toContain('chose cancelled');
    expect(trial.denied).toMatchObject([{ tool: 'Bash', guard: 'once' }]);
  });

  it.each([
    [{ kind: 'execute', title: 'Terminal' }, [{ tool: 'Bash', input: { command: 'Terminal' } }]],
    [{ kind: 'execute', title: ' ' }, []],
    [{ kind: 'edit', title: 'an edit' }, []],
    [{ kind: 'switch_mode', title: 'leave plan mode' }, []],
    [
      { kind: 'execute', rawInput: { command: ['/bin/bash', '-lc', 'rm -rf /'] } },
      [{ tool: 'Bash', input: { command: 'rm -rf /' } }],
    ],
    [
      { kind: 'execute', rawInput: { cmd: 'ls', workdir: '/elsewhere' } },
      [{ tool: 'Bash', cwd: '/elsewhere', input: { command: 'ls', workdir: '/elsewhere' } }],
    ],
    [{ kind: 'other', name: 'mcp__x__y', rawInput: { a: 1 } }, [{ tool: 'mcp__x__y', input: { a: 1 } }]],
    [{ kind: 'read', locations: [{ path: '/etc/passwd' }] }, [{ tool: 'Read', input: { file_path: '/etc/passwd' } }]],
    [{ kind: 'fetch', rawInput: { url: 'http://x' } }, [{ tool: 'WebFetch', input: { url: 'http://x' } }]],
    [
      { kind: 'edit', _meta: { claudeCode: { toolName: 'MultiEdit' } }, rawInput: { file_path: '/a', edits: [] } },
      [{ tool: 'MultiEdit', input: { file_path: '/a', edits: [] } }],
    ],
    [
      {
        kind: 'edit',
        content: [
          { type: 'diff', path: '/a', oldText: 'x', newText: 'y' },
          { type: 'diff', path: '/b', newText: 'z' },
        ],
      },
      [
        { tool: 'Edit', input: { file_path: '/a', old_string: 'x', new_string: 'y' } },
        { tool: 'Write', input: { file_path: '/b', content: 'z' } },
      ],
    ],
    [
      { kind: 'other', name: 'fs', rawInput: { filePath: '/a', command: 'ls' } },
      [
        { tool: 'fs', input: { file_path: '/a', command: 'ls' } },
        { tool: 'Bash', input: { file_path: '/a', command: 'ls' } },
        { tool: 'Write', input: { file_path: '/a', content: '' } },
      ],
    ],
    [
      { kind: 'other', title: '/etc', rawInput: { filepath: '/etc/x', parentDir: '/etc' } },
      [{ tool: 'Read', input: { file_path: '/etc/x' } }],
    ],
    [
      { kind: 'move', rawInput: { source: '/a', destination: '/b' } },
      [
        { tool: 'Write', input: { file_path: '/b', content: '' } },
        { tool: 'Write', input: { file_path: '/a', content: '' } },
      ],
    ],
  ])('has its tool calls read, however it describes them: %j', async (toolCall, asked) => {
    const permit = { toolCall: { toolCallId: 't', ...toolCall } };
    const trial = start({ turns: [[{ permit }, { say: RESULT }]] })();
    expect(await trial.end).toEqual(DONE);
    expect(trial.asked).toEqual(asked);
    expect(trial.output()).toContain(asked.length > 0 ? 'chose yes' : 'chose no');
    expect(trial.denied.map(({ guard }) => guard)).toEqual(asked.length > 0 ? [] : ['unclear']);
  });

  it('is denied a call when the guard breaks, or wants it otherwise', async () => {
    const broken = start({ turns: [[runs('ls'), { say: RESULT }]] })({
      guard: () => Promise.reject(new Error('oops')),
    });
    await broken.end;
    expect(broken.output()).toContain('[denied] the guard could not answer: oops');
    const rewrite = async (): Promise<GuardVerdict> => ({
      kind: 'rewrite',
      guard: 'g',
      reason: 'too long',
      input: { command: 'head x' },
    });
    const trial = start({ turns: [[runs('cat x', { ends: 'refusal' })], [{ echo: true }, { say: RESULT }]] })({
      guard: rewrite,
    });
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toContain('it would be allowed like this: {"command":"head x"}');
  });
});
