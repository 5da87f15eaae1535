import { z } from 'zod';
import type { AgentRequest, GuardVerdict, ToolCall } from '../../ports.ts';
import { ASK_TOOL } from './ask-tool.ts';
import type { HookMatcher, QueryOptions } from './sdk-types.ts';

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
export function createPermission(guard: AgentRequest['guard']): QueryOptions['canUseTool'] {
  return async (tool, input) => {
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

export function createHooks(request: HookRequest): QueryOptions['hooks'] {
  // The agent was sent back and used no tool since, so it insists that it is done. The engine's gates decide then.
  let isSettled = false;
  const unfinished = async () => {
    if (isSettled || request.isRepairing()) return null;
    isSettled = true;
    return request.beforeStop().catch(() => null); // this only helps the agent: the engine checks the work anyway
  };
  const timeout = Math.ceil(request.timeoutMs / 1000);
  const guard: HookMatcher = {
    timeout: GUARD_SECONDS,
    hooks: [
      deciding(async (call) => {
        if (call.tool === RESULT_TOOL || call.tool === ASK_TOOL) return { kind: 'allow' };
        isSettled = false;
        return request.guard(call);
      }),
    ],
  };
  const result: HookMatcher = {
    matcher: RESULT_TOOL,
    timeout,
    hooks: [
      deciding(async ({ input }) => {
        const why = input.outcome === 'pr_ready' ? await unfinished() : null;
        return why === null ? { kind: 'allow' } : { kind: 'deny', guard: 'pre_stop', reason: why };
      }),
    ],
  };
  const stop: HookMatcher = {
    timeout,
    hooks: [
      async () => {
        const why = await unfinished();
        return why === null ? {} : { decision: 'block', reason: why };
      },
    ],
  };
  return { PreToolUse: [guard, result], Stop: [stop] };
}

/** A hook that throws would allow the tool. So every error becomes a refusal with a reason. */
function deciding(decide: (call: ToolCall) => Promise<GuardVerdict>) {
  return async (raw: unknown) => {
    try {
      const { tool_name: tool, tool_input: input, cwd } = PreToolUse.parse(raw);
      return answer(await decide({ tool, input, ...(cwd === undefined ? {} : { cwd }) }));
    } catch (error) {
      return answer(undecided(error as Error));
    }
  };
}

function answer(verdict: GuardVerdict): Record<string, unknown> {
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
