import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import type { AgentRequest, ToolCall } from '../../ports.ts';
import { type GuardSocket, openGuardSocket } from './guard-socket.ts';

let socket: GuardSocket | undefined;
afterEach(() => socket?.close());

const ALLOWS: Parameters<typeof openGuardSocket>[0] = {
  cwd: '/w',
  guard: async () => ({ kind: 'allow' }),
  beforeStop: async () => null,
};

interface Hooks {
  hooks: Record<string, { hooks: { command: string }[] }[]>;
}

/** Runs the hook as Codex does: the command in a shell, the event on standard input. */
async function fire(event: 'PreToolUse' | 'Stop', input: object | string) {
  const { hooks } = socket!.hooks as Hooks;
  const child = spawn('sh', ['-c', hooks[event]?.[0]?.hooks[0]?.command ?? '']);
  child.stdin.on('error', () => undefined);
  child.stdin.end(typeof input === 'string' ? input : JSON.stringify({ hook_event_name: event, ...input }));
  const exitCode = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return { stdout: await text(child.stdout), stderr: await text(child.stderr), exitCode: await exitCode };
}

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' }, cwd: '/w' };

it('the guard socket allows a call without output', async () => {
  socket = await openGuardSocket(ALLOWS);
  expect(await fire('PreToolUse', bash)).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  expect(await fire('Stop', {})).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  expect(socket.asked()).toBe(1);
});

it.each<[string, AgentRequest['guard'], object | string]>([
  ['a guard throws', () => Promise.reject(new Error('broken')), bash],
  ['the guards say no', async () => ({ kind: 'deny', guard: 'g', reason: 'no' }), bash],
  ['it cannot be read what is asked', ALLOWS.guard, 'not json'],
])('the guard socket denies a call when %s', async (_why, guard, input) => {
  socket = await openGuardSocket({ ...ALLOWS, guard });
  expect(await fire('PreToolUse', input)).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/\w/) });
});

it('the guard socket denies a call when it is closed, but lets the agent end', async () => {
  socket = await openGuardSocket(ALLOWS);
  await socket.close();
  expect(await fire('PreToolUse', bash)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('cannot be asked'),
  });
  expect(await fire('Stop', {})).toMatchObject({ exitCode: 0 });
  socket = undefined;
});

it.each([
  [undefined, true],
  ['done', true],
  ['{"outcome":"pr_ready"}', true],
  ['{"outcome":', true],
  ['Which one?\n```json\n{"outcome":"needs_info"}\n```', false],
  ['{"outcome":"no_changes"}', false],
  ['{"outcome":"failed"}', false],
])('an agent that stops with %s is checked: %s', async (last_assistant_message, isChecked) => {
  socket = await openGuardSocket({ ...ALLOWS, beforeStop: async () => 'not yet' });
  const { stdout } = await fire('Stop', { last_assistant_message });
  expect(stdout.includes('not yet')).toBe(isChecked);
});

it('the guard socket denies a call when the hook itself cannot run', async () => {
  socket = await openGuardSocket(ALLOWS);
  const { hooks } = socket.hooks as Hooks;
  hooks.PreToolUse![0]!.hooks[0]!.command = hooks.PreToolUse![0]!.hooks[0]!.command.replace('hook.ts', 'no-hook.ts');
  expect(await fire('PreToolUse', bash)).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/\w/) });
});

it('the guard socket reports the start folder of a command when it is not the worktree', async () => {
  const calls: ToolCall[] = [];
  const guard: AgentRequest['guard'] = async (call) => {
    calls.push(call);
    return { kind: 'allow' };
  };
  socket = await openGuardSocket({ ...ALLOWS, guard });
  await fire('PreToolUse', { ...bash, cwd: "/w/it's" });
  expect(calls).toEqual([{ tool: 'Bash', cwd: "/w/it's", input: { command: 'ls' } }]);
});

it('the guard socket checks every file of a patch, and denies the whole patch', async () => {
  const calls: ToolCall[] = [];
  socket = await openGuardSocket({
    ...ALLOWS,
    guard: async (call) => {
      calls.push(call);
      return calls.length < 4 ? { kind: 'allow' } : { kind: 'deny', guard: 'g', reason: 'not there' };
    },
  });
  const patch = [
    '*** Begin Patch',
    '*** Add File: a.txt',
    '+one',
    '+two',
    ' *** Update File: sub/b.txt',
    '*** Move to: ../c.txt',
    '@@',
    ' kept',
    '-old',
    '+new',
    '*** Delete File: /etc/d.txt',
    '*** End Patch',
  ].join('\n');
  const said = await fire('PreToolUse', { tool_name: 'apply_patch', tool_input: { command: patch }, cwd: '/w' });
  expect(said).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('g: not there') });
  expect(calls).toEqual([
    { tool: 'Write', cwd: '/w', input: { file_path: '/w/a.txt', content: 'one\ntwo' } },
    { tool: 'Write', cwd: '/w', input: { file_path: '/c.txt', content: '' } },
    { tool: 'Edit', cwd: '/w', input: { file_path: '/w/sub/b.txt', old_string: 'old', new_string: 'new' } },
    { tool: 'Edit', cwd: '/w', input: { file_path: '/etc/d.txt', old_string: '', new_string: '' } },
  ]);
});
