import { z } from 'zod';

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

export const ScriptedAgentConfig = z.strictObject({
  type: z.literal('scripted'),
  /** A scenario file, relative to the repository's root. */
  script: z.string(),
});
export const CommandAgentConfig = z.strictObject({
  type: z.literal('command'),
  command: z.array(z.string().min(1)).min(1, 'a command agent needs a program'),
  env: z.record(z.string(), z.string()).default({}),
  /** Names of environment variables the agent gets from the daemon's environment, such as an API key. */
  pass: z.array(z.string().min(1)).default([]),
  /** Folders outside the worktree that a sandboxed agent may write, relative to the repository's root. */
  writable: z.array(z.string().min(1)).default([]),
});
export const AgentConfig = z.discriminatedUnion('type', [ScriptedAgentConfig, CommandAgentConfig]);
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
  push: z.boolean().default(true),
  sandbox: z.enum(['auto', 'off']).default('auto'),
  /** Paths where a conflict is always a person's to resolve. */
  critical: z.array(z.string()).default([]),
  agents: z.record(z.string(), AgentConfig).refine((agents) => 'default' in agents, {
    message: 'agents needs an entry named default',
  }),
  gates: z.array(GateConfig).default([]),
});
export type Config = z.infer<typeof Config>;
export const MAX_WORKERS = 10;
