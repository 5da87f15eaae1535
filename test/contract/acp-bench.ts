import { fileURLToPath } from 'node:url';
import type { AgentConfig, Usage } from '@tidemill/contract';
import { createAgentFor } from '../../packages/daemon/src/agents/agent-for.ts';
import type { AgentRequest, ToolCall } from '../../packages/daemon/src/ports.ts';
import { type AgentBench, BRIEF, type Trial } from './agent-bench.ts';

type AcpConfig = Extract<AgentConfig, { type: 'acp' }>;

export interface AcpTrial extends Trial {
  sessions: string[];
  /** What the guard was asked. */
  asked: ToolCall[];
  usage(): Usage;
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
export function acpStarter(bench: AgentBench, agentConfig: AcpConfig) {
  const agentFor = createAgentFor({ default: agentConfig }, bench.host);
  return (more: Partial<AgentRequest> = {}): AcpTrial => {
    const sessions: string[] = [];
    const asked: ToolCall[] = [];
    const request: AgentRequest = {
      runId: `run_${crypto.randomUUID()}`,
      cwd: bench.worktree,
      brief: BRIEF,
      timeoutMs: 60_000,
      maxTurns: 50,
      model: null,
      tools: null,
      resume: null,
      guard: async () => ({ kind: 'allow' }),
      beforeStop: async () => null,
      ...more,
    };
    const guard = async (call: ToolCall) => {
      asked.push(call);
      return (more.guard ?? request.guard)(call);
    };
    const trial = bench.watch((sink) =>
      agentFor(request.brief.mode).start({ ...request, guard }, { ...sink, session: (id) => void sessions.push(id) }),
    );
    const usage = () =>
      (trial.seen.usage as Usage[]).reduce(
        (sum, { inputTokens, outputTokens, costUsd, requests }) => ({
          inputTokens: sum.inputTokens + inputTokens,
          outputTokens: sum.outputTokens + outputTokens,
          costUsd: costUsd === null ? sum.costUsd : (sum.costUsd ?? 0) + costUsd,
          requests: sum.requests + requests,
        }),
        { inputTokens: 0, outputTokens: 0, costUsd: null as number | null, requests: 0 },
      );
    return { ...trial, sessions, asked, usage };
  };
}
