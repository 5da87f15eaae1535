import { z } from 'zod';
import { Approval } from '../task/autonomy.ts';
import { Duration } from '../text/duration.ts';

export const EnvironmentName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/, 'the name of an environment is lower-case letters, digits, - and _, at most 40');

/** What starts a delivery: each landing, a finished specification, or nothing but a person. */
export const DeliveryTrigger = z.enum(['task', 'spec', 'manual']);
export type DeliveryTrigger = z.infer<typeof DeliveryTrigger>;

const commands = z.array(z.string().min(1, 'a command is empty'));

/** Shows whether an environment works: a command that exits with 0, or an address that answers with a status. */
export const HealthCheck = z
  .strictObject({
    run: z.string().min(1).optional(),
    url: z.url({ protocol: /^https?$/, error: 'is an address such as https://staging.example/health' }).optional(),
    status: z.number().int().min(100).max(599).default(200),
    /** How often it is tried until it passes. */
    tries: z.number().int().min(1).max(100).default(5),
    interval: Duration.default(5_000),
    /** The time limit of one try. */
    timeout: Duration.default(10_000),
  })
  .refine(({ run, url }) => (run === undefined) !== (url === undefined), {
    message: 'a health check needs either a command in `run` or an address in `url`',
  });
export type HealthCheck = z.infer<typeof HealthCheck>;

export const EnvironmentConfig = z
  .strictObject({
    name: EnvironmentName,
    /** Shell commands, one after another, in a clean checkout of the commit. */
    run: commands.default([]),
    /** The file name of a GitHub workflow that is started instead. */
    workflow: z
      .string()
      .regex(/^[\w.-]+\.ya?ml$/, 'is the file name of a workflow, such as deploy.yml')
      .optional(),
    health: HealthCheck.optional(),
    /** Commands that put the earlier commit back. Default: the last healthy commit is delivered again. */
    rollback: commands.default([]),
    /** Default: the strictest matter of the project's autonomy. */
    approve: Approval.optional(),
    when: DeliveryTrigger.default('manual'),
    /** An earlier environment that must be healthy with the same commit. */
    after: z.string().optional(),
    /** The time limit of each command, or of the workflow. */
    timeout: Duration.default(600_000),
    /** The commands may be run again after a crash cut them short. */
    repeatable: z.boolean().default(false),
    /** A value `$NAME` is taken from the daemon's environment. */
    env: z.record(z.string(), z.string()).default({}),
    /** Names of environment variables that the commands get from the daemon's environment. */
    pass: z.array(z.string().min(1)).default([]),
    network: z.boolean().default(true),
    /** Folders outside the checkout that sandboxed commands may read or write. */
    readable: z.array(z.string().min(1)).default([]),
    writable: z.array(z.string().min(1)).default([]),
  })
  .refine(({ run, workflow }) => run.length > 0 !== (workflow !== undefined), {
    message: 'an environment needs either commands in `run` or a `workflow`',
  });
export type EnvironmentConfig = z.infer<typeof EnvironmentConfig>;

export const DeliveryConfig = z.strictObject({ environments: z.array(EnvironmentConfig).max(20).default([]) });
export type DeliveryConfig = z.infer<typeof DeliveryConfig>;

/** The part of an environment's settings that decisions depend on. */
export const EnvironmentRules = z.object({
  name: z.string(),
  when: DeliveryTrigger,
  approve: Approval,
  after: z.string().nullable(),
  hasHealth: z.boolean(),
  /** It has its own commands for a rollback. */
  hasRollback: z.boolean(),
  repeatable: z.boolean(),
});
export type EnvironmentRules = z.infer<typeof EnvironmentRules>;
