import { z } from 'zod';

/** It is checked on each keystroke: a longer one would block other requests. */
export const MAX_CONFIG_CHARS = 100_000;

/** A project's current config file. `hash` identifies this text: a save based on another text is refused. */
export const ConfigText = z.object({
  path: z.string(),
  text: z.string(),
  hash: z.string(),
  warnings: z.array(z.string()),
});
export type ConfigText = z.infer<typeof ConfigText>;

/** The answer to a save. `outcome` is a sentence: whether the file was committed to the target, and why not. */
export const SavedConfig = ConfigText.extend({ isCommitted: z.boolean(), outcome: z.string() });
export type SavedConfig = z.infer<typeof SavedConfig>;

export const ConfigProblem = z.object({ line: z.number().int().nullable(), message: z.string() });
export type ConfigProblem = z.infer<typeof ConfigProblem>;

export const ConfigCheck = z.object({ problems: z.array(ConfigProblem), warnings: z.array(z.string()) });
export type ConfigCheck = z.infer<typeof ConfigCheck>;

/** A known agent program, and whether it is on this machine. */
export const AgentView = z.object({
  name: z.string(),
  /** Its entry for the config. */
  config: z.record(z.string(), z.string()),
  /** False also for a version that is too old. */
  installed: z.boolean(),
  version: z.string().nullable(),
  answers: z.boolean(),
  /** Where it was found, or the command that installs or updates it. */
  where: z.string(),
  can: z.object({ hooks: z.boolean(), cost: z.boolean(), structuredOutput: z.boolean(), resume: z.boolean() }),
});
export type AgentView = z.infer<typeof AgentView>;
