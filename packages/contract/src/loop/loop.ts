import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { CategorySlug } from '../category/category.ts';
import { Proposal, RelatedWork } from '../proposal/proposal.ts';
import { recordKind } from '../record/kind.ts';
import { Approval } from '../task/autonomy.ts';

/** How far the loop is let loose, in stages: how many of its tasks are worked on at once, and in how many categories. */
export const EXPOSURES = [
  { agents: 1, categories: 5 },
  { agents: 3, categories: 5 },
  { agents: 5, categories: 21 },
  { agents: 10, categories: 21 },
] as const;

const share = z.number().gt(0).max(1);

/** Tidemill proposes its own improvements while the queue is low. */
export const LoopConfig = z
  .strictObject({
    enabled: z.boolean().default(false),
    /** It proposes while fewer tasks than this wait. */
    min: z.number().int().min(1).max(100).default(3),
    /** It never proposes while more than this wait. */
    max: z.number().int().min(1).max(1000).default(10),
    /** The categories in use. Left out: all of them. */
    categories: z.array(CategorySlug).min(1, 'names at least one category; leave it out for all of them').optional(),
    /** The stage of exposure, 1 to 4. */
    exposure: z.number().int().min(1).max(EXPOSURES.length).default(1),
    /** Whether a person approves each proposal. Left out: as `hilConfig.scopeChanges` says. */
    approval: Approval.optional(),
    /** What proposals and the tasks that come from them may cost within 24 hours. Runs that have begun may exceed it. */
    budgetUsdPerDay: z.number().positive().optional(),
    /** The loop pauses when one of these is exceeded. */
    pauseAt: z
      .strictObject({
        /** The share of `budgetUsdPerDay` that was spent. */
        budget: z.number().min(1).default(2),
        /** The share of runs that failed within 24 hours. */
        crashRate: share.default(0.5),
        /** What a landed task of the loop costs, on average over 30 days. */
        costPerTaskUsd: z.number().positive().default(5),
        /** The share of the loop's finished tasks that were reverted or given up. */
        regression: share.default(0.1),
      })
      .prefault({}),
  })
  .refine(({ min, max }) => max >= min, { path: ['max'], message: 'is at least min' });
export type LoopConfig = z.infer<typeof LoopConfig>;

export const PauseTrigger = z.enum(['budget', 'crash_rate', 'cost_per_task', 'regression']);
export type PauseTrigger = z.infer<typeof PauseTrigger>;

/** A project's loop, as far as it was switched. */
export const Loop = z.object({
  noun: z.literal('loop'),
  /** `loop/<projectId>`. */
  id: z.string(),
  projectId: z.string(),
  /** Null: as the settings say. */
  switched: z.object({ on: z.boolean(), by: Actor, at: z.number() }).nullable(),
  /** It paused itself. Switching it on ends the pause. */
  paused: z.object({ trigger: PauseTrigger, why: z.string(), at: z.number() }).nullable(),
  /** Its budget of a day is spent until then: nothing is proposed, and no agent begins with one of its tasks. */
  heldUntil: z.number().nullable().default(null),
  /** The number of the next proposal. */
  nextProposal: z.number().int(),
});
export type Loop = z.infer<typeof Loop>;

export const loopId = (projectId: string) => `loop/${projectId}`;
export const loopKind = recordKind(Loop, ({ projectId }) => ({ parent: projectId, isOpen: false, dueAt: null }));

/** Whether the loop works: switched by a person, or else by the settings, and not paused. */
export const isLoopOn = (loop: Pick<Loop, 'switched' | 'paused'> | null, { enabled }: Pick<LoopConfig, 'enabled'>) =>
  (loop?.switched?.on ?? enabled) && !loop?.paused;

/** Whether its budget of a day is spent. */
export const isLoopHeld = (loop: Pick<Loop, 'heldUntil'> | null | undefined, now: number): boolean =>
  (loop?.heldUntil ?? 0) > now;

export const ProposalView = Proposal.omit({ noun: true, projectId: true, categoryId: true, jobId: true }).extend({
  related: z.array(RelatedWork),
  task: z.object({ number: z.number().int(), title: z.string(), stage: z.string() }).nullable(),
});
export type ProposalView = z.infer<typeof ProposalView>;

export const CategoryView = z.object({
  slug: z.string(),
  name: z.string(),
  /** `off` by the settings, `later` at a higher exposure, `broken` when its text cannot be used. */
  state: z.enum(['ready', 'resting', 'off', 'later', 'broken']),
  why: z.string(),
  restsUntil: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
  uses: z.number().int(),
  open: z.number().int(),
  proposed: z.number().int(),
  approved: z.number().int(),
  landed: z.number().int(),
  reverted: z.number().int(),
  /** Its proposals that became tasks, for each of the last four weeks, on average. */
  tasksPerWeek: z.number(),
  /** The average of people's scores; null without one. */
  score: z.number().nullable(),
  /** How much it counts when the next category is chosen. */
  weight: z.number(),
});
export type CategoryView = z.infer<typeof CategoryView>;

export const LoopView = z.object({
  isOn: z.boolean(),
  /** For people: on or off, since when and by which person, or why it is paused. */
  text: z.string(),
  paused: Loop.shape.paused,
  queue: z.object({ depth: z.number().int(), min: z.number().int(), max: z.number().int() }),
  exposure: z.object({ stage: z.number().int(), agents: z.number().int(), categories: z.number().int() }),
  approval: Approval,
  /** The category for which an agent looks for an improvement now. */
  proposing: z.string().nullable(),
  figures: z.object({
    /** The share of the enabled categories that were used within 30 days. */
    coverage: z.number(),
    /** From the proposal to its landing, on average over 30 days. */
    cycleTimeMs: z.number().nullable(),
    /** The share of the proposals that were accepted within 30 days and landed within a day. */
    completeness: z.number().nullable(),
    stalls: z.number().int(),
    spentDayUsd: z.number(),
    budgetUsdPerDay: z.number().nullable(),
    spentMonthUsd: z.number(),
    costPerTaskUsd: z.number().nullable(),
  }),
  categories: z.array(CategoryView),
  /** Those that wait for a yes. */
  waiting: z.array(ProposalView),
});
export type LoopView = z.infer<typeof LoopView>;
