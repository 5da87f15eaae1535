import { z } from 'zod';

/** It is checked while somebody types: a longer one would hold others up. */
export const MAX_CONFIG_CHARS = 100_000;

/** A project's config file as it stands. `hash` names this very text: a save that started from another is refused. */
export const ConfigText = z.object({
  path: z.string(),
  text: z.string(),
  hash: z.string(),
  warnings: z.array(z.string()),
});
export type ConfigText = z.infer<typeof ConfigText>;

export const ConfigProblem = z.object({ line: z.number().int().nullable(), message: z.string() });
export type ConfigProblem = z.infer<typeof ConfigProblem>;

export const ConfigCheck = z.object({ problems: z.array(ConfigProblem), warnings: z.array(z.string()) });
export type ConfigCheck = z.infer<typeof ConfigCheck>;

/** An agent program that Tidemill knows by name, as it was looked for on this machine. */
export const AgentView = z.object({
  name: z.string(),
  /** As it would stand in the config. */
  config: z.record(z.string(), z.string()),
  installed: z.boolean(),
  version: z.string().nullable(),
  answers: z.boolean(),
  /** Where it was found, or what would put it there. */
  where: z.string(),
  can: z.object({ hooks: z.boolean(), cost: z.boolean(), structuredOutput: z.boolean(), resume: z.boolean() }),
});
export type AgentView = z.infer<typeof AgentView>;
