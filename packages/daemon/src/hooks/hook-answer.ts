import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { assetFolder } from '../asset-folder.ts';
import { GuardSet } from '../guards/guard-set.ts';
import { loadGuardsQuickly } from '../guards/load.ts';
import type { GuardVerdict } from '../ports.ts';

// Loaded before every tool of a person's session: no module here may cost time (zod, yaml, the contract).

export interface HookAnswer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

interface HookCall {
  tool: string;
  input: Record<string, unknown>;
  cwd: string;
}

/** The only exit code after which Claude Code does not run the tool. */
export const REFUSED = 2;

/** Checks a call of Claude Code with the guards of the repository it works in. */
export async function answerHook(text: string, env: NodeJS.ProcessEnv): Promise<HookAnswer> {
  try {
    const call = hookCall(text);
    if (call === null) return { exitCode: 0, stdout: '', stderr: '' };
    const worktree = worktreeOf(env.CLAUDE_PROJECT_DIR || call.cwd);
    const builtinDir = assetFolder('prompts/guards');
    if (builtinDir === null) throw new Error('the built-in guards are missing; reinstall Tidemill');
    const dataDir = resolve(env.TIDEMILL_HOME || join(homedir(), '.tidemill'));
    const guards = new GuardSet(await loadGuardsQuickly({ root: worktree, builtinDir }, dataDir), dataDir);
    return answerOf(await guards.check(call, { worktree, mode: 'implement', cwd: call.cwd }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      exitCode: REFUSED,
      stdout: '',
      stderr: `tidemill guard: refused, because it could not be checked: ${why}\n`,
    };
  }
}

function answerOf(verdict: GuardVerdict): HookAnswer {
  switch (verdict.kind) {
    case 'allow':
      return { exitCode: 0, stdout: '', stderr: '' };
    case 'deny':
      return { exitCode: REFUSED, stdout: '', stderr: `${verdict.reason} (guard: ${verdict.guard})\n` };
    case 'rewrite': {
      // No permissionDecision: Claude Code still decides whether to ask the person first.
      const hookSpecificOutput = { hookEventName: 'PreToolUse', updatedInput: verdict.input };
      const systemMessage = `${verdict.reason} (guard: ${verdict.guard})`;
      return { exitCode: 0, stdout: `${JSON.stringify({ hookSpecificOutput, systemMessage })}\n`, stderr: '' };
    }
  }
}

/** Null for an event that is not about a tool: there is nothing to decide. */
function hookCall(text: string): HookCall | null {
  const hook = parsed(text);
  if (hook.hook_event_name !== undefined && hook.hook_event_name !== 'PreToolUse') return null;
  const { tool_name: tool, tool_input: input, cwd } = hook;
  if (typeof tool !== 'string' || tool === '') throw new Error('the hook input has no tool_name');
  if (!isRecord(input)) throw new Error('the hook input has no tool_input');
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) throw new Error('the hook input has no absolute cwd');
  return { tool, input, cwd };
}

function parsed(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("standard input is not JSON; expected Claude Code's hook input");
  }
  if (!isRecord(value)) throw new Error('standard input is not a JSON object');
  return value;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The top folder of the checkout, found without git, because starting git takes longer than everything else here. */
function worktreeOf(folder: string): string {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return resolve(folder);
  }
}
