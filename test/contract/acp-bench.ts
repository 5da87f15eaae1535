import { fileURLToPath } from 'node:url';
import type { AgentConfig } from '@tidemill/contract';
import { createAgentFor } from '../../packages/daemon/src/agents/agent-for.ts';
import type { AgentRequest, ToolCall } from '../../packages/daemon/src/ports.ts';
import { type Bench, type Trial, watch } from './agent-bench.ts';

type AcpConfig = Extract<AgentConfig, { type: 'acp' }>;

export interface AcpTrial extends Trial {
  /** What the guard was asked. */
  asked: ToolCall[];
}

const FAKE = fileURLToPath(new URL('../support/acp-agent.mjs', import.meta.url));

/** One turn of the fake agent: see test/support/acp-agent.mjs. */
export type Step = Record<string, unknown>;
export interface FakeScript {
  turns: Step[][];
  [more: string]: unknown;
}

export const RESULT = '```json\n{"outcome":"pr_ready","summary":"done"}\n```\n';
export const DONE = { kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } };
/** Asks whether it may run a command. */
export const runs = (command: string, more: Step = {}): Step => ({
  permit: { toolCall: { toolCallId: command, kind: 'execute', rawInput: { command } }, ...more },
});

export const config = (given: Partial<AcpConfig>): AcpConfig => ({
  type: 'acp',
  env: {},
  pass: [],
  writable: [],
  fallback: [],
  ...given,
});

export const fake = (script: FakeScript, given: Partial<AcpConfig> = {}): AcpConfig =>
  config({ command: [process.execPath, FAKE, JSON.stringify(script)], ...given });

/** Starts agents of one configuration: runs share what the agent remembers, as they do in the daemon. */
export function acpStarter(bench: Bench, agentConfig: AcpConfig) {
  const agentFor = createAgentFor({ default: agentConfig }, bench.host);
  return (more: Partial<AgentRequest> = {}): AcpTrial => {
    const asked: ToolCall[] = [];
    const request = bench.request(more);
    const guard = async (call: ToolCall) => {
      asked.push(call);
      return request.guard(call);
    };
    const trial = watch((sink) => agentFor(request.brief.mode).start({ ...request, guard }, sink));
    return { ...trial, asked };
  };
}
