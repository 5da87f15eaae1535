import { z } from 'zod';
import { HilSetting } from './autonomy.ts';
import { BudgetLimits } from './budget.ts';
import { ChannelConfig, NotifyConfig } from './channel.ts';
import { ChannelName } from './notice.ts';

/** `90`, `"45s"`, `"2m"`, `"1h"`: a duration in a config file, in milliseconds once parsed. A bare number is seconds. */
export const Duration = z
  .union([
    z.number().positive(),
    z.string().regex(/^\d+(\.\d+)?(ms|s|m|h)$/, 'a duration is a number and ms, s, m or h, such as 2m'),
  ])
  .transform((value) => {
    if (typeof value === 'number') return value * 1000;
    const unit = value.replace(/[\d.]/g, '');
    const factor = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit] ?? 1000;
    return Number.parseFloat(value) * factor;
  });

/** What every agent that is a program of its own may be given. */
const surroundings = {
  env: z.record(z.string(), z.string()).default({}),
  /** Names of environment variables the agent gets from the daemon's environment, such as an API key. */
  pass: z.array(z.string().min(1)).default([]),
  /** Folders outside the worktree that a sandboxed agent may write, relative to the repository's root. */
  writable: z.array(z.string().min(1)).default([]),
  /** Entries of `agents` that take over, in this order, while this one is down or out of credit. */
  fallback: z.array(z.string().min(1)).default([]),
};

export const ScriptedAgentConfig = z.strictObject({
  type: z.literal('scripted'),
  /** A scenario file, relative to the repository's root. */
  script: z.string(),
});
export const CommandAgentConfig = z.strictObject({
  type: z.literal('command'),
  command: z.array(z.string().min(1)).min(1, 'a command agent needs a program'),
  ...surroundings,
});
/** Claude Code. `program` is its executable when it is neither on PATH nor beside the SDK. */
export const ClaudeAgentConfig = z.strictObject({
  type: z.literal('claude'),
  model: z.string().min(1).optional(),
  program: z.string().min(1).optional(),
  ...surroundings,
});
/** Codex, through `codex exec --json`. */
export const CodexAgentConfig = z.strictObject({
  type: z.literal('codex'),
  model: z.string().min(1).optional(),
  program: z.string().min(1).optional(),
  ...surroundings,
});
export const AcpPreset = z.enum(['gemini', 'opencode', 'claude-agent-acp', 'codex-acp']);
/** Any program that speaks the Agent Client Protocol on its standard input and output. */
export const AcpAgentConfig = z
  .strictObject({
    type: z.literal('acp'),
    preset: AcpPreset.optional(),
    command: z.array(z.string().min(1)).min(1).optional(),
    model: z.string().min(1).optional(),
    ...surroundings,
  })
  .refine((agent) => (agent.preset === undefined) !== (agent.command === undefined), {
    message: 'an acp agent needs either a preset (gemini, opencode, claude-agent-acp, codex-acp) or a command',
  });
export const AgentConfig = z.discriminatedUnion('type', [
  ScriptedAgentConfig,
  CommandAgentConfig,
  ClaudeAgentConfig,
  CodexAgentConfig,
  AcpAgentConfig,
]);
export type AgentConfig = z.infer<typeof AgentConfig>;

export const GateConfig = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_-]*$/, 'a gate name is lower-case letters, digits, - and _')
    .refine((name) => name !== 'integrity', 'the gate integrity is built in; choose another name'),
  run: z.string().min(1, 'a gate needs a command in `run`'),
  timeout: Duration.default(120_000),
  network: z.boolean().default(false),
});
export type GateConfig = z.infer<typeof GateConfig>;

export const Config = z.strictObject({
  target: z.string().min(1).default('main'),
  workers: z.number().int().min(1).default(1),
  pipeline: z.string().default('feature'),
  landing: z.enum(['squash', 'rebase', 'merge']).default('squash'),
  reviewPlans: z.boolean().default(false),
  /** What agents may decide without a person. */
  hilConfig: HilSetting.prefault('full'),
  /** What may be spent. Days and months begin at midnight of the time zone (`Europe/Berlin`; the machine's own when left out). */
  budget: BudgetLimits.extend({ timeZone: z.string().min(1).optional() }).prefault({}),
  push: z.boolean().default(true),
  sandbox: z.enum(['auto', 'off']).default('auto'),
  /** Paths where a conflict is always a person's to resolve. */
  critical: z.array(z.string()).default([]),
  agents: z.record(z.string(), AgentConfig).refine((agents) => 'default' in agents, {
    message: 'agents needs an entry named default',
  }),
  gates: z.array(GateConfig).default([]),
  /** Where a person is told what needs them, and can answer. */
  channels: z.record(ChannelName, ChannelConfig).default({}),
  notify: NotifyConfig.prefault({}),
  /** Where figures are sent: an OpenTelemetry collector's address for metrics. */
  telemetry: z
    .strictObject({
      otlp: z.url({ protocol: /^https?$/, error: 'is an address such as http://127.0.0.1:4318/v1/metrics' }).optional(),
    })
    .prefault({}),
});
export type Config = z.infer<typeof Config>;
export const MAX_WORKERS = 10;
