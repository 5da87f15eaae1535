import { z } from 'zod';
import type { AgentRequest, GuardVerdict, ToolCall } from '../../ports.ts';
import { isHandIn } from '../result.ts';
import { ASK_TOOL } from './ask-tool.ts';
import type { ControlAnswer } from './control.ts';

const PreToolUse = z.object({
  tool_name: z.string(),
  tool_input: z.record(z.string(), z.unknown()),
  cwd: z.string().optional(),
});
/** Claude Code's tool for the result. It changes nothing, but it ends the turn without a Stop hook. */
const RESULT_TOOL = 'StructuredOutput';
/** Longer than the time limit of a guard. */
const GUARD_SECONDS = 60;

export interface HookRequest extends Pick<AgentRequest, 'guard' | 'beforeStop' | 'timeoutMs'> {
  /** True while only the form of the result is fixed. Then the agent is not sent back to work. */
  isRepairing(): boolean;
}

/**
 * Permission requests of Claude Code, for example to write an editor's settings file, go to the guards. So every action
 * needs a guard's permission, even if a hook was skipped.
 */
export function createPermission(guard: AgentRequest['guard']) {
  return async (tool: string, input: Record<string, unknown>): Promise<ControlAnswer> => {
    const verdict = await guard({ tool, input }).catch(undecided);
    if (verdict.kind === 'deny') return { behavior: 'deny', message: verdict.reason };
    return { behavior: 'allow', updatedInput: verdict.kind === 'rewrite' ? verdict.input : input };
  };
}

const undecided = (error: Error): GuardVerdict => ({
  kind: 'deny',
  guard: 'unknown',
  reason: `The guards could not decide, so this is refused: ${error.message}`,
});

export interface Hooks {
  /** What Claude Code is told: the events, and the name of the hook for each. */
  registered: object;
  /** Whether a guard was asked about a tool. */
  hasAsked(): boolean;
  call(name: string, input: unknown): Promise<ControlAnswer>;
}

export function createHooks(request: HookRequest): Hooks {
  let hasAsked = false;
  // The agent was sent back and used no tool since, so it insists that it is done. The engine's gates decide then.
  // Or its result hands in no work: it asks a person, or gives up.
  let isSettled = false;
  const unfinished = async () => {
    if (isSettled || request.isRepairing()) return null;
    isSettled = true;
    return request.beforeStop().catch(() => null); // this only helps the agent: the engine checks the work anyway
  };
  const hooks: Record<string, (input: unknown) => Promise<ControlAnswer>> = {
    guard: deciding(async (call) => {
      hasAsked = true;
      if (call.tool === RESULT_TOOL || call.tool === ASK_TOOL) return { kind: 'allow' };
      isSettled = false;
      return request.guard(call);
    }),
    result: deciding(async ({ input }) => {
      isSettled ||= input.outcome !== 'pr_ready';
      const why = await unfinished();
      return why === null ? { kind: 'allow' } : { kind: 'deny', guard: 'pre_stop', reason: why };
    }),
    stop: async (raw) => {
      const why = isHandIn(lastWords(raw)) ? await unfinished() : null;
      return why === null ? {} : { decision: 'block', reason: why };
    },
  };
  const timeout = Math.ceil(request.timeoutMs / 1000);
  // Older versions ignore `onFailure`. The answers below never fail.
  const matcher = (name: string, more: object) => ({ hookCallbackIds: [name], onFailure: 'block', ...more });
  return {
    registered: {
      PreToolUse: [matcher('guard', { timeout: GUARD_SECONDS }), matcher('result', { matcher: RESULT_TOOL, timeout })],
      Stop: [matcher('stop', { timeout })],
    },
    hasAsked: () => hasAsked,
    call: async (name, input) => (hooks[name] ?? unknown)(input),
  };
}

const unknown = deciding(() => Promise.reject(new Error('Claude Code called a hook that does not exist')));

/** The text with which the agent wants to stop, if this version of Claude Code tells it. */
const lastWords = (raw: unknown) => (raw as { last_assistant_message?: unknown } | null)?.last_assistant_message;

/** A hook that throws would allow the tool. So every error becomes a refusal with a reason. */
function deciding(decide: (call: ToolCall) => Promise<GuardVerdict>) {
  return async (raw: unknown): Promise<ControlAnswer> => {
    try {
      const { tool_name: tool, tool_input: input, cwd } = PreToolUse.parse(raw);
      return answer(await decide({ tool, input, ...(cwd === undefined ? {} : { cwd }) }));
    } catch (error) {
      return answer(undecided(error as Error));
    }
  };
}

function answer(verdict: GuardVerdict): ControlAnswer {
  const decided = (more: object) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } });
  switch (verdict.kind) {
    case 'allow':
      return decided({ permissionDecision: 'allow' });
    case 'deny':
      return decided({ permissionDecision: 'deny', permissionDecisionReason: verdict.reason });
    case 'rewrite':
      return decided({
        permissionDecision: 'allow',
        permissionDecisionReason: verdict.reason,
        updatedInput: verdict.input,
        additionalContext: verdict.reason,
      });
  }
}
