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
import { isHandIn } from '../result.ts';
import { quoted, toolCalls } from './patch.ts';

// Codex asks a hook before it uses a tool and before it ends. The hook is a program (hook.ts) inside the sandbox; the
// guards run in the daemon. A socket connects them. Actions without a hook (text typed into a running command, a
// version of Codex without our hooks) are restricted by the sandbox and the engine's gates.

const HookInput = z.looseObject({
  hook_event_name: z.string(),
  /** The start folder of the tool use. */
  cwd: z.string().optional(),
  tool_name: z.string().default(''),
  tool_input: z.record(z.string(), z.unknown()).catch({}),
  /** Of an agent that wants to stop. */
  last_assistant_message: z.unknown().optional(),
});
type HookInput = z.infer<typeof HookInput>;

type Asked = Pick<AgentRequest, 'cwd' | 'guard' | 'beforeStop'>;
type HookAnswer = { exitCode: number; stdout: string; stderr: string };

export interface GuardSocket {
  /** The content of hooks.json. */
  hooks: object;
  /** Which hooks of a file Codex may trust, for its config: only ours, by their content. */
  trust(hooksFile: string): Record<string, string>;
  /** Must be reachable from inside the sandbox. */
  folder: string;
  program: string;
  /** The number of checked tool uses. */
  asked(): number;
  close(): Promise<void>;
}

const HOOKS = [
  { event: 'PreToolUse', key: 'pre_tool_use', timeout: 120 },
  // The gates run while Codex waits for this one.
  { event: 'Stop', key: 'stop', timeout: 7200 },
];

export async function openGuardSocket(request: Asked): Promise<GuardSocket> {
  // Not in the run's folder: a socket's path is limited to about a hundred bytes.
  const folder = await mkdtemp(path.join(tmpdir(), 'tidemill-guard-'));
  const socketFile = path.join(folder, 's');
  let asked = 0;
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy()); // a killed hook needs no response
    answer(socket, request, () => {
      asked += 1;
    }).then(
      (said) => void socket.end(JSON.stringify(said)),
      () => socket.destroy(), // without a response the hook denies
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketFile, resolve);
  });
  const hooks = HOOKS.map(({ event, key, timeout }) => {
    const ask = [process.execPath, hookFile(), socketFile, event].map(quoted).join(' ');
    // Only exit code 2 with text on standard error denies, and the hook itself may fail.
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
    const why = isHandIn(input.last_assistant_message) ? await request.beforeStop() : null;
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
    // A part of a patch cannot be replaced, so the agent must send another patch.
    return { exitCode: 2, stdout: '', stderr: `${verdict.guard}: ${verdict.reason}` };
  }
  return said({});
}

const said = (output: object): HookAnswer => ({
  exitCode: 0,
  stdout: Object.keys(output).length === 0 ? '' : JSON.stringify(output),
  stderr: '',
});

/**
 * Codex runs a hook only when its config names the hash of what the hook is: event and handler as JSON, keys in order.
 */
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
