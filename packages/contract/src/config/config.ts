import { z } from 'zod';
import { ChannelName } from '../alert/alert.ts';
import { BudgetLimits } from '../budget/budget.ts';
import { ChannelConfig, NotifyConfig } from '../channel/channel.ts';
import { DeliveryConfig } from '../delivery/config.ts';
import { RoutingChoice } from '../event-routing/choice.ts';
import { GithubConfig } from '../forge/github-config.ts';
import { PullRequestConfig } from '../forge/pull-request.ts';
import { commandSurroundings, GateConfig } from '../gate/config.ts';
import { LearningConfig } from '../lesson/lesson.ts';
import { LoopConfig } from '../loop/loop.ts';
import { UseLimits } from '../run/use-limits.ts';
import { SpecsConfig } from '../spec/config.ts';
import { HilSetting } from '../task/autonomy.ts';
import { Duration } from '../text/duration.ts';
import { TrackerConfig } from '../tracker/config.ts';
import { HousekeepingConfig } from './housekeeping.ts';

/** Settings of every agent that is a separate program. */
const surroundings = {
  env: z.record(z.string(), z.string()).default({}),
  /** Names of environment variables the agent gets from the daemon's environment, such as an API key. */
  pass: z.array(z.string().min(1)).default([]),
  /** Folders outside the worktree that a sandboxed agent may write, relative to the repository's root. */
  writable: z.array(z.string().min(1)).default([]),
  /** Its runs cost nothing: without reported usage, no request of unknown price is charged. */
  free: z.boolean().optional(),
  /** Entries of `agents` that replace it, in this order, while it is down or out of credit. */
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
/** Claude Code. `program` is its executable when it is not on PATH. */
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

/** A command that creates what a worktree needs and git does not track, such as installed dependencies. */
export const PrepareStep = z.strictObject({
  run: z.string().min(1, 'a step of `prepare` needs a command in `run`'),
  /** The step runs again only when one of these changed; globs. Without globs it runs once, until `prepare` changes. */
  files: z.array(z.string().min(1)).default([]),
  timeout: Duration.default(600_000),
  network: z.boolean().default(true),
  ...commandSurroundings,
});
export type PrepareStep = z.infer<typeof PrepareStep>;

/**
 * What is pushed. `target`: the target, before it lands here. `branch`: the task's branch, for a pull request; others
 * merge it. true and false are the earlier names of target and never.
 */
export const PushSetting = z
  .union([z.enum(['never', 'target', 'branch']), z.boolean()], 'is one of never, target, branch')
  .transform((push) => (push === true ? 'target' : push === false ? 'never' : push));
export type PushSetting = z.infer<typeof PushSetting>;

/** Where the files of ideas are kept: on a branch of their own (`idea/SLUG`), or in the data folder. */
export const IdeasConfig = z.strictObject({ keep: z.enum(['branch', 'data']).default('branch') });

/** Where ideas are researched. `{query}` stands for what is searched; a command also gets it on its standard input. */
export const ResearchConfig = z
  .strictObject({
    command: z.array(z.string().min(1)).min(1, 'a search command needs a program').optional(),
    url: z.url({ protocol: /^https?$/, error: 'is an address such as https://search.example/?q={query}' }).optional(),
    /** Headers of the request. A value `$NAME` is taken from the daemon's environment. */
    headers: z.record(z.string().min(1), z.string()).default({}),
    timeout: Duration.default(20_000),
    ...commandSurroundings,
  })
  .refine(({ command, url }) => command === undefined || url === undefined, {
    message: 'research needs either a command or a url, not both',
  });
export type ResearchConfig = z.infer<typeof ResearchConfig>;

/** How many waiting tasks are proven and landed together. */
export const MAX_BATCH = 50;
const BatchSize = z.number().int().min(1).max(MAX_BATCH);

/** `prove`: the tree of the last commit only, or that of each commit. A number is the size. */
export const BatchSetting = z
  .union(
    [BatchSize, z.strictObject({ size: BatchSize.default(5), prove: z.enum(['last', 'each']).default('last') })],
    `is a number from 1 to ${MAX_BATCH}, or { size, prove: last or each }`,
  )
  .transform((batch) => (typeof batch === 'number' ? { size: batch, prove: 'last' as const } : batch));

export const Config = z.strictObject({
  target: z.string().min(1).default('main'),
  workers: z.number().int().min(1).default(1),
  pipeline: z.string().default('feature'),
  /** `pull_request`: each task's branch is pushed, and lands by a pull request on GitHub. */
  landing: z.enum(['squash', 'rebase', 'merge', 'pull_request']).default('squash'),
  pullRequest: PullRequestConfig.prefault({}),
  reviewPlans: z.boolean().default(false),
  /** How often the gates send an agent back within a run before a person is asked. */
  maxValidationRetries: z.number().int().min(0).max(20).default(3),
  /** What agents may decide without a person. */
  hilConfig: HilSetting.prefault('full'),
  /** What may be spent. Days and months begin at midnight of the time zone (`Europe/Berlin`; the machine's own when left out). */
  budget: BudgetLimits.extend({ timeZone: z.string().min(1).optional() }).prefault({}),
  push: PushSetting.prefault('target'),
  /** Waiting tasks that are proven as one tree and land together, at most. 1: one at a time. */
  batch: BatchSetting.prefault(5),
  sandbox: z.enum(['auto', 'off']).default('auto'),
  /** Paths where only a person resolves conflicts. */
  critical: z.array(z.string()).default([]),
  agents: z.record(z.string(), AgentConfig).refine((agents) => 'default' in agents, {
    message: 'agents needs an entry named default',
  }),
  /** What every worktree and every gate run needs before a command can run in it. */
  prepare: z.array(PrepareStep).default([]),
  /** Files that git ignores and a worktree needs, as globs; a `.worktreeinclude` file adds to them. */
  include: z.array(z.string().min(1)).default([]),
  /** Commands that run in a worktree before it is removed. */
  cleanup: z.array(z.string().min(1)).default([]),
  /** Folders outside the repository that sandboxed agents and gates may read. */
  readable: z.array(z.string().min(1)).default([]),
  /** How much memory and how many processes one command may use, with everything it starts. */
  limits: UseLimits.extend({
    /** How many results may wait for a person before no more are made. Left out: two for each worker. */
    waiting: z.number().int().min(1).optional(),
  }).prefault({}),
  gates: z.array(GateConfig).default([]),
  /** Tasks start although no gate runs a command. */
  untested: z.boolean().default(false),
  /** Product source, as globs. Every other file that a gate reads decides what the gate checks. Empty: the usual places. */
  source: z.array(z.string().min(1)).default([]),
  /** Where a person gets notifications and can answer. */
  channels: z.record(ChannelName, ChannelConfig).default({}),
  notify: NotifyConfig.prefault({}),
  /** What follows from an event without a person's action. `tidemill routes` shows it. */
  routing: RoutingChoice.prefault({}),
  /** How long logs, snapshots and superseded events are kept. */
  housekeeping: HousekeepingConfig.prefault({}),
  ideas: IdeasConfig.prefault({}),
  /** Off without a command and a url. */
  research: ResearchConfig.prefault({}),
  /** How specifications are drafted and built. */
  specs: SpecsConfig.prefault({}),
  /** Whether and how Tidemill proposes its own improvements. */
  loop: LoopConfig.prefault({}),
  /** Whether and how Tidemill learns from its work. */
  learning: LearningConfig.prefault({}),
  /** The connection to GitHub. Absent: GitHub is not used, unless something else needs it. */
  github: GithubConfig.optional(),
  /** Where tasks come from besides people: issues, or files of the repository. Without it, nowhere. */
  tracker: TrackerConfig.optional(),
  /** Where landed work is delivered to. */
  delivery: DeliveryConfig.prefault({}),
  /** Where metrics are sent: the address of an OpenTelemetry collector. */
  telemetry: z
    .strictObject({
      otlp: z.url({ protocol: /^https?$/, error: 'is an address such as http://127.0.0.1:4318/v1/metrics' }).optional(),
    })
    .prefault({}),
});
export type Config = z.infer<typeof Config>;
export const MAX_WORKERS = 10;
