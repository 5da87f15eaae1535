import { assetFolder } from '../asset-folder.ts';
import { GuardSet } from '../guards/guard-set.ts';
import { loadGuardsQuickly } from '../guards/load.ts';
import type { GuardVerdict } from '../ports.ts';
import { agentOfRun } from '../process/environment.ts';
import { takeBypass } from './bypass-file.ts';
import { isProvenIn } from './hook-evidence.ts';
import { type HookInput, isRecord, parsedHook, placeOf } from './hook-input.ts';
import { recordCall } from './hook-record.ts';

// Loaded before every tool of a person's session: no module here may cost time (zod, yaml, the contract).

export interface HookAnswer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The only exit code after which Claude Code does not run the tool. */
export const REFUSED = 2;

const SESSION_EVENTS = ['SessionStart', 'UserPromptSubmit', 'Stop', 'SubagentStop'];

/** Answers a hook of Claude Code: checks a call with the guards, or the start or the end of a session. */
export async function answerHook(text: string, env: NodeJS.ProcessEnv): Promise<HookAnswer> {
  try {
    const hook = parsedHook(text);
    const { hook_event_name: event = 'PreToolUse' } = hook;
    if (event === 'PreToolUse') return await guardCall(hook, env);
    if (typeof event !== 'string' || !SESSION_EVENTS.includes(event)) return { exitCode: 0, stdout: '', stderr: '' };
    const { answerSession } = await import('./session-answer.ts');
    return await answerSession(event, hook, env);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      exitCode: REFUSED,
      stdout: '',
      stderr: `tidemill guard: refused, because it could not be checked: ${why}\n`,
    };
  }
}

async function guardCall(hook: HookInput, env: NodeJS.ProcessEnv): Promise<HookAnswer> {
  const { tool_name: tool, tool_input: input, cwd } = hook;
  if (typeof tool !== 'string' || tool === '') throw new Error('the hook input has no tool_name');
  if (!isRecord(input)) throw new Error('the hook input has no tool_input');
  const place = placeOf(hook, env);
  const { worktree, dataDir } = place;
  const call = { tool, input, cwd: cwd as string };
  const builtinDir = assetFolder('prompts/guards');
  if (builtinDir === null) throw new Error('the built-in guards are missing; reinstall Tidemill');
  const loaded = await guardsOf(worktree, builtinDir, dataDir);
  const guards = new GuardSet(loaded, dataDir, async (hash) => isProvenIn(dataDir, place.root, hash));
  // Hooks that the repository has also run in the agents of Tidemill, and nobody can be asked there.
  const session = agentOfRun(env) === null ? 'own' : 'agent';
  const situation = { worktree, mode: 'implement', session, cwd: call.cwd } as const;
  const verdict = await guards.check(call, situation);
  if (verdict.kind === 'deny' && takeBypass(place, verdict.guard, Date.now())) {
    // The other guards still decide.
    const passed = await guards.check(call, { ...situation, without: verdict.guard });
    recordCall(place, call, passed, verdict.guard);
    return answerOf(passed);
  }
  recordCall(place, call, verdict);
  return answerOf(verdict);
}

/** A file with a mistake stops every tool, also those that could repair it: so the way out is named. */
async function guardsOf(root: string, builtinDir: string, dataDir: string) {
  try {
    return await loadGuardsQuickly({ root, builtinDir }, dataDir);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${why}\nNo tool runs in this session until a person repairs or moves the file in .tidemill/guards, in an editor or a terminal. ` +
        '`tidemill hooks uninstall` switches the guards of own sessions off.',
    );
  }
}

/** Claude Code shows the person the call and the reason. */
function askOf({ guard, reason, input }: GuardVerdict & { kind: 'deny' }): HookAnswer {
  const hookSpecificOutput = {
    hookEventName: 'PreToolUse',
    permissionDecision: 'ask',
    permissionDecisionReason: `${reason} (guard: ${guard})`,
    ...(input === undefined ? {} : { updatedInput: input }),
  };
  return { exitCode: 0, stdout: `${JSON.stringify({ hookSpecificOutput })}\n`, stderr: '' };
}

function answerOf(verdict: GuardVerdict): HookAnswer {
  switch (verdict.kind) {
    case 'allow':
      return { exitCode: 0, stdout: '', stderr: '' };
    case 'deny':
      if (verdict.asks) return askOf(verdict);
      return { exitCode: REFUSED, stdout: '', stderr: `${verdict.reason} (guard: ${verdict.guard})\n` };
    case 'rewrite': {
      // No permissionDecision: Claude Code still decides whether to ask the person first.
      const hookSpecificOutput = { hookEventName: 'PreToolUse', updatedInput: verdict.input };
      const systemMessage = `${verdict.reason} (guard: ${verdict.guard})`;
      return { exitCode: 0, stdout: `${JSON.stringify({ hookSpecificOutput, systemMessage })}\n`, stderr: '' };
    }
  }
}
