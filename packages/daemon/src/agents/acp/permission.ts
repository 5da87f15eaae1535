import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { AgentRequest, GuardVerdict } from '../../ports.ts';
import { type KnownTool, readTool } from './tool.ts';

export type PermissionAnswer = { response: RequestPermissionResponse; denied: string | null };

interface Asked {
  params: RequestPermissionRequest;
  tool: KnownTool;
  request: Pick<AgentRequest, 'guard' | 'cwd'>;
  isReadOnly: boolean;
}

/** A permission is given by the guards, and for this one call only: what is allowed for ever is never asked again. */
export async function answerPermission({ params, tool, request, isReadOnly }: Asked): Promise<PermissionAnswer> {
  const denied = await denialOf(tool, request, isReadOnly);
  const allow = params.options.find(({ kind }) => kind === 'allow_once');
  if (denied === null && allow) return { response: choose(allow), denied: null };
  const reject =
    params.options.find(({ kind }) => kind === 'reject_once') ??
    params.options.find(({ kind }) => kind === 'reject_always');
  const response = reject ? choose(reject) : { outcome: { outcome: 'cancelled' as const } };
  return { response, denied: denied ?? 'it can only be allowed for ever, which is not done' };
}

const choose = ({ optionId }: PermissionOption): RequestPermissionResponse => ({
  outcome: { outcome: 'selected', optionId },
});

async function denialOf(tool: KnownTool, request: Asked['request'], isReadOnly: boolean): Promise<string | null> {
  const read = readTool(tool, request.cwd);
  if ('unclear' in read) return read.unclear;
  for (const call of read.calls) {
    const denied = reasonOf(await request.guard(call).catch(failClosed));
    if (denied !== null) return denied;
  }
  return isReadOnly && !read.isReading ? 'in this mode nothing may be changed or run; read files instead' : null;
}

const failClosed = (error: Error): GuardVerdict => ({
  kind: 'deny',
  guard: 'guard',
  reason: `the guard could not answer: ${error.message}`,
});

/** The protocol cannot change what a tool is given: the agent has to ask for it in the right way itself. */
function reasonOf(verdict: GuardVerdict): string | null {
  if (verdict.kind === 'allow') return null;
  if (verdict.kind === 'deny') return verdict.reason;
  return `${verdict.reason}; it would be allowed like this: ${JSON.stringify(verdict.input)}`;
}
