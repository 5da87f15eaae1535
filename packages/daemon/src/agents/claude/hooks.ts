import { z } from 'zod';
import type { AgentRequest, GuardVerdict } from '../../ports.ts';
import type { HookMatcher } from './sdk-types.ts';

const PreToolUse = z.object({ tool_name: z.string(), tool_input: z.record(z.string(), z.unknown()) });
/** How Claude Code has a result handed in; it touches nothing. */
const RESULT_TOOL = 'StructuredOutput';
/** Longer than a guard may take to decide. */
const GUARD_SECONDS = 60;

/** A hook that throws lets the tool through. So none throws: whatever goes wrong is a refusal with a reason. */
export function guardHook(guard: AgentRequest['guard']): HookMatcher {
  return {
    timeout: GUARD_SECONDS,
    hooks: [
      async (input) => {
        try {
          const { tool_name: tool, tool_input } = PreToolUse.parse(input);
          if (tool === RESULT_TOOL) return decided({ kind: 'allow' });
          return decided(await guard({ tool, input: tool_input }));
        } catch (error) {
          const reason = `The guards could not decide, so this is refused: ${(error as Error).message}`;
          return decided({ kind: 'deny', guard: 'unknown', reason });
        }
      },
    ],
  };
}

function decided(verdict: GuardVerdict): Record<string, unknown> {
  const answer = (more: object) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } });
  switch (verdict.kind) {
    case 'allow':
      return answer({ permissionDecision: 'allow' });
    case 'deny':
      return answer({ permissionDecision: 'deny', permissionDecisionReason: verdict.reason });
    case 'rewrite':
      return answer({
        permissionDecision: 'allow',
        permissionDecisionReason: verdict.reason,
        updatedInput: verdict.input,
        additionalContext: verdict.reason,
      });
  }
}

/** Asks whether there is anything left to do. This only helps the agent: what it leaves undone the engine finds. */
export function stopHook(beforeStop: () => Promise<string | null>, timeoutMs: number): HookMatcher {
  return {
    timeout: Math.ceil(timeoutMs / 1000),
    hooks: [
      async () => {
        const why = await beforeStop().catch(() => null);
        return why === null ? {} : { decision: 'block', reason: why };
      },
    ],
  };
}
