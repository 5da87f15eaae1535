import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { AgentRequest, AgentSink, GuardVerdict, ToolCall } from '../../ports.ts';
import { asNamed, type KnownTool, readTool } from './tool.ts';

export type PermissionAnswer = { response: RequestPermissionResponse; denied: string | null };

interface Asked {
  params: RequestPermissionRequest;
  tool: KnownTool;
  request: Pick<AgentRequest, 'guard' | 'cwd'>;
  sink: Pick<AgentSink, 'denied'>;
  isReadOnly: boolean;
}

/** The guards give a permission for one call only, because an agent would not ask again after a permanent one. */
export async function answerPermission(asked: Asked): Promise<PermissionAnswer> {
  const { options } = asked.params;
  const allow = options.find(({ kind }) => kind === 'allow_once');
  const denied = await denialOf(asked, allow !== undefined);
  if (denied === null && allow) return { response: choose(allow), denied: null };
  const reject =
    options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always');
  const response = reject ? choose(reject) : { outcome: { outcome: 'cancelled' as const } };
  return { response, denied };
}

const choose = ({ optionId }: PermissionOption): RequestPermissionResponse => ({
  outcome: { outcome: 'selected', optionId },
});

/** Other refusals are recorded like a guard's denial. */
async function denialOf({ tool, request, sink, isReadOnly }: Asked, canBeAllowed: boolean): Promise<string | null> {
  const read = readTool(tool, request.cwd);
  const refuse = (call: ToolCall, guard: string, reason: string) => {
    sink.denied(call, guard, reason);
    return reason;
  };
  if ('unclear' in read) return refuse(asNamed(tool), 'unclear', read.unclear);
  for (const call of read.calls) {
    const denied = reasonOf(await request.guard(call).catch(failClosed));
    if (denied !== null) return denied;
  }
  const [call = asNamed(tool)] = read.calls;
  if (isReadOnly && !read.isReading)
    return refuse(call, 'read-only', 'in this mode nothing may be changed or run; read files instead');
  if (!canBeAllowed) return refuse(call, 'once', 'it can only be allowed for ever, which is not done');
  return null;
}

const failClosed = (error: Error): GuardVerdict => ({
  kind: 'deny',
  guard: 'guard',
  reason: `the guard could not answer: ${error.message}`,
});

/** The protocol cannot change the input of a tool, so the agent must send a corrected call. */
function reasonOf(verdict: GuardVerdict): string | null {
  if (verdict.kind === 'allow') return null;
  if (verdict.kind === 'deny') return verdict.reason;
  return `${verdict.reason}; it would be allowed like this: ${JSON.stringify(verdict.input)}`;
}
