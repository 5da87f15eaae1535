import { z } from 'zod';
import type { AgentRequest, GuardVerdict, ToolCall } from '../../ports.ts';
import { ASK_TOOL } from './ask-tool.ts';
import type { HookMatcher, QueryOptions } from './sdk-types.ts';

const PreToolUse = z.object({
  tool_name: z.string(),
  tool_input: z.record(z.string(), z.unknown()),
  cwd: z.string().optional(),
});
/** How Claude Code has a result handed in. It touches nothing, but ends the turn, and then no Stop hook is asked. */
const RESULT_TOOL = 'StructuredOutput';
/** Longer than a guard may take to decide. */
const GUARD_SECONDS = 60;

export interface HookRequest extends Pick<AgentRequest, 'guard' | 'beforeStop' | 'timeoutMs'> {
  /** Then only the form of the result is put right, and nobody is sent back to work. */
  isRepairing(): boolean;
}

/**
 * What Claude Code would ask a person, such as whether a file that configures an editor may be written, is asked of the
 * guards again. So nothing happens that no guard has allowed, even where a hook was passed over.
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
  // Whoever was sent back and has used no tool since insists on being done: the engine's own gates decide then.
  let isSettled = false;
  const unfinished = async () => {
    if (isSettled || request.isRepairing()) return null;
    isSettled = true;
    return request.beforeStop().catch(() => null); // this only helps the agent: what it leaves undone the engine finds
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

/** A hook that throws lets the tool through. So none throws: whatever goes wrong is a refusal with a reason. */
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
