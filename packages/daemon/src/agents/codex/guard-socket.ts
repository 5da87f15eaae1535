import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { AgentRequest } from '../../ports.ts';
import { quoted, toolCalls } from './patch.ts';

// Codex asks a hook before it uses a tool and before it ends. The hook is a program (hook.ts) inside the sandbox; the
// guards live in the daemon. A socket joins them. What no hook hears of (text typed into a running command, a version of
// Codex that does not take our hooks) is held by the sandbox and by the engine's gates.

const HookInput = z.looseObject({
  hook_event_name: z.string(),
  /** Where the tool is used: a command may be given another folder to start in. */
  cwd: z.string().optional(),
  tool_name: z.string().default(''),
  tool_input: z.record(z.string(), z.unknown()).catch({}),
});
type HookInput = z.infer<typeof HookInput>;

type Asked = Pick<AgentRequest, 'cwd' | 'guard' | 'beforeStop'>;
type HookAnswer = { exitCode: number; stdout: string; stderr: string };

export interface GuardSocket {
  /** What hooks.json holds. */
  hooks: object;
  /** Which hooks of a file Codex may trust, for its config: only ours, by their content. */
  trust(hooksFile: string): Record<string, string>;
  /** Must be reachable from inside the sandbox. */
  folder: string;
  program: string;
  /** How often a tool use was asked about. */
  asked(): number;
  close(): Promise<void>;
}

const HOOKS = [
  { event: 'PreToolUse', key: 'pre_tool_use', timeout: 120 },
  // The gates run while Codex waits for this one.
  { event: 'Stop', key: 'stop', timeout: 7200 },
];

export async function openGuardSocket(request: Asked): Promise<GuardSocket> {
  // Not in the run's folder: a socket's path may have about a hundred bytes, and nobody knows how deep that lies.
  const folder = await mkdtemp(path.join(tmpdir(), 'tidemill-guard-'));
  const socketFile = path.join(folder, 's');
  let asked = 0;
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy()); // a hook that was killed with its agent needs no answer
    answer(socket, request, () => {
      asked += 1;
    }).then(
      (said) => void socket.end(JSON.stringify(said)),
      () => socket.destroy(), // without an answer the hook denies
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketFile, resolve);
  });
  const hooks = HOOKS.map(({ event, key, timeout }) => {
    const ask = [process.execPath, hookFile(), socketFile, event].map(quoted).join(' ');
    // Only exit code 2 with a word on standard error denies, and the hook itself may be what fails.
    const command = event === 'Stop' ? ask : `${ask} || { echo ' Denied by a guard.' >&2; exit 2; }`;
    return { event, key, handler: { type: 'command', command, timeout } };
  });
  return {
    hooks: { hooks: Object.fromEntries(hooks.map(({ event, handler }) => [event, [{ hooks: [handler] }]])) },
    trust: (hooksFile) =>
      Object.fromEntries(hooks.map(({ key, handler }) => [`${hooksFile}:${key}:0:0`, trustedHash(key, handler)])),
    folder,
    program: hookFile(),
    asked: () => asked,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answer(socket: Socket, request: Asked, onToolUse: () => void): Promise<HookAnswer> {
  const input = HookInput.parse(JSON.parse(await text(socket)));
  if (input.hook_event_name === 'Stop') {
    const why = await request.beforeStop();
    return why === null ? said({}) : said({ decision: 'block', reason: why });
  }
  onToolUse();
  return judge(input, request);
}

async function judge(input: HookInput, request: Asked): Promise<HookAnswer> {
  const calls = toolCalls(input.tool_name, input.tool_input, input.cwd ?? request.cwd);
  for (const call of calls) {
    const verdict = await request.guard(call);
    if (verdict.kind === 'allow') continue;
    if (verdict.kind === 'rewrite' && input.tool_name !== 'apply_patch')
      return said({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'allow',
          updatedInput: verdict.input,
        },
      });
    // One file's part of a patch cannot be exchanged: the agent is told, and writes another patch.
    return { exitCode: 2, stdout: '', stderr: `${verdict.guard}: ${verdict.reason}` };
  }
  return said({});
}

const said = (output: object): HookAnswer => ({
  exitCode: 0,
  stdout: Object.keys(output).length === 0 ? '' : JSON.stringify(output),
  stderr: '',
});

/** Codex runs a hook only when its config names the hash of what the hook is: event and handler as JSON, keys in order. */
function trustedHash(
  key: string,
  { type, command, timeout }: { type: string; command: string; timeout: number },
): string {
  const identity = { event_name: key, hooks: [{ async: false, command, timeout, type }] };
  return `sha256:${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`;
}

/** Beside this file: as source in a checkout, as JavaScript in the packed build. */
function hookFile(): string {
  const source = fileURLToPath(new URL('./hook.ts', import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL('./codex-hook.js', import.meta.url));
}
