import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { askServer } from './ask-tool.ts';
import { type ControlAnswers, ControlChannel } from './control.ts';
import { createHooks, createPermission } from './hooks.ts';

interface Sent {
  type: string;
  request_id?: string;
  request?: Record<string, unknown>;
  response?: { subtype: string; request_id: string; response?: Record<string, unknown>; error?: string };
}

/** A channel whose other end is the test. */
function open(answers: Partial<ControlAnswers> = {}) {
  const input = new PassThrough();
  const heard: unknown[] = [];
  const noise: string[] = [];
  const channel = new ControlChannel({
    hook: () => Promise.reject(new Error('no hook here')),
    permission: () => Promise.reject(new Error('nobody decides')),
    mcp: () => Promise.reject(new Error('no server here')),
    message: (raw) => void heard.push(raw),
    noise: (text) => void noise.push(text),
    ...answers,
  });
  const hear = (...messages: object[]) =>
    channel.hear(Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join('')));
  const sent = async () => {
    await turn();
    const text = (input.read() as Buffer | null)?.toString('utf8') ?? '';
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Sent);
  };
  const ask = async (request: object) => {
    hear({ type: 'control_request', request_id: 'r1', request });
    const [answer] = await sent();
    expect(answer).toMatchObject({ type: 'control_response', response: { request_id: 'r1' } });
    return answer!.response!;
  };
  return { channel, input, heard, noise, hear, sent, ask };
}

const denied = (reason: string) => ({
  subtype: 'success',
  response: {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining(reason),
    },
  },
});

describe('a hook of Claude Code', () => {
  const hooks = createHooks({
    guard: () => Promise.reject(new Error('no such rule')),
    beforeStop: async () => null,
    timeoutMs: 1000,
    isRepairing: () => false,
  });
  const use = { tool_name: 'Bash', tool_input: { command: 'ls' } };

  it.each([
    ['a guard fails', { callback_id: 'guard', input: use }, 'no such rule'],
    ['the tool cannot be read', { callback_id: 'guard', input: { tool_name: 7 } }, 'tool_name'],
    ['it is unknown', { callback_id: 'hook_7', input: use }, 'does not exist'],
    ['the request cannot be read', { callback: 'guard' }, 'callback_id'],
  ])('denies when %s', async (_when, request, reason) => {
    const { channel, input, ask } = open({ hook: hooks.call });
    channel.connect(input);
    expect(await ask({ subtype: 'hook_callback', ...request })).toMatchObject(denied(reason));
  });

  it('denies when the hook itself throws', async () => {
    const { channel, input, ask } = open();
    channel.connect(input);
    const answer = await ask({ subtype: 'hook_callback', callback_id: 'guard', input: use });
    expect(answer).toMatchObject(denied('no hook here'));
  });

  it('is registered to block in the program too when it fails', () => {
    expect(hooks.registered).toMatchObject({
      PreToolUse: [{ onFailure: 'block' }, { matcher: 'StructuredOutput', onFailure: 'block' }],
    });
  });
});

describe('a permission of Claude Code', () => {
  it.each([
    ['nobody decides', { tool_name: 'Write', input: {} }],
    ['the request cannot be read', { tool_name: 'Write' }],
  ])('is refused when %s', async (_when, request) => {
    const { channel, input, ask } = open();
    channel.connect(input);
    expect(await ask({ subtype: 'can_use_tool', ...request })).toMatchObject({
      subtype: 'success',
      response: { behavior: 'deny', message: expect.stringContaining('refused') },
    });
  });

  it('is what the guards say', async () => {
    const permission = createPermission(async ({ input }) => ({
      kind: 'rewrite',
      guard: 'g',
      reason: 'r',
      input: { ...input, more: 1 },
    }));
    const { channel, input, ask } = open({ permission });
    channel.connect(input);
    expect(await ask({ subtype: 'can_use_tool', tool_name: 'Write', input: { a: 1 } })).toMatchObject({
      response: { behavior: 'allow', updatedInput: { a: 1, more: 1 } },
    });
  });
});

describe('the control channel of Claude Code', () => {
  it('keeps what is said before the program runs, in order, and ends its input after it', async () => {
    const { channel, input, sent } = open();
    void channel.ask({ subtype: 'initialize' }).catch(() => undefined);
    channel.say('Do it, ü.');
    channel.endInput();
    channel.say('too late');
    channel.connect(input);
    expect(await sent()).toMatchObject([
      { request: { subtype: 'initialize' } },
      { type: 'user', message: { role: 'user', content: 'Do it, ü.' }, client_composed: true },
    ]);
    expect(input.writableEnded).toBe(true);
  });

  it('matches a response with its request, and fails the rest when the program ends', async () => {
    const { channel, input, hear, sent } = open();
    channel.connect(input);
    const [first, second, third] = ['a', 'b', 'c'].map((subtype) => channel.ask({ subtype }));
    const ids = (await sent()).map(({ request_id }) => request_id);
    hear(
      { type: 'control_response', response: { subtype: 'error', request_id: ids[1], error: 'not now' } },
      { type: 'control_response', response: { subtype: 'success', request_id: ids[0], response: { x: 1 } } },
      { type: 'control_response', response: { subtype: 'success', request_id: 'another', response: {} } },
      { type: 'control_response', response: 7 },
    );
    channel.close();
    expect(await first).toEqual({ x: 1 });
    await expect(second).rejects.toThrow('not now');
    await expect(third).rejects.toThrow('ended without a response');
    await expect(channel.ask({ subtype: 'd' })).rejects.toThrow('has ended');
  });

  it('passes messages on, reports what is not a message, and refuses what it does not know', async () => {
    const { channel, input, hear, heard, noise, ask } = open();
    channel.connect(input);
    channel.hear(Buffer.from('not JSON\n{"broken":\n\n'));
    hear({ type: 'assistant' }, { type: 'keep_alive' }, { type: 'control_request', request: {} });
    expect(heard).toEqual([{ type: 'assistant' }, { type: 'keep_alive' }]);
    expect(noise).toEqual(['not JSON\n', '{"broken":\n']);
    expect(await ask({ subtype: 'elicitation' })).toMatchObject({ subtype: 'error', error: expect.any(String) });
  });
});

describe('the tool for questions', () => {
  const server = askServer(async (questions) => `asked ${questions.length}`)!;
  const call = (method: string, params?: object) => server.answer('person', { jsonrpc: '2.0', id: 1, method, params });

  it('is offered and called like any other tool of its protocol', async () => {
    const { channel, input, ask } = open({ mcp: server.answer });
    channel.connect(input);
    const message = { jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'ask_person', arguments: {} } };
    expect(await ask({ subtype: 'mcp_message', server_name: 'person', message })).toMatchObject({
      response: { mcp_response: { jsonrpc: '2.0', id: 4, result: { isError: true } } },
    });
    const begun = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await ask({ subtype: 'mcp_message', server_name: 'person', message: begun })).toMatchObject({
      response: { mcp_response: { result: {} } },
    });
    expect(await call('initialize', { protocolVersion: '2025-11-25' })).toMatchObject({
      result: { protocolVersion: '2025-11-25', capabilities: { tools: {} } },
    });
    expect(await call('tools/list')).toMatchObject({
      result: { tools: [{ name: 'ask_person', inputSchema: { type: 'object', required: ['questions'] } }] },
    });
    expect(
      await call('tools/call', { name: 'ask_person', arguments: { questions: [{ text: 'Why?' }] } }),
    ).toMatchObject({
      result: { content: [{ type: 'text', text: 'asked 1' }], isError: false },
    });
    for (const unknown of [call('tools/call', { name: 'other' }), call('resources/list')])
      expect(await unknown).toMatchObject({ id: 1, error: { code: -32601 } });
  });
});
