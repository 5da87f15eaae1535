import { z } from 'zod';

/** The parts of GitHub's answers that are used. */

const User = z.object({ login: z.string() }).nullable();

export const Pull = z.object({
  id: z.number(),
  number: z.number(),
  node_id: z.string(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  title: z.string(),
  body: z.string().nullable(),
  head: z.object({ ref: z.string(), sha: z.string() }),
  merged_at: z.string().nullable(),
  closed_at: z.string().nullable().optional(),
  merge_commit_sha: z.string().nullable(),
  mergeable_state: z.string().optional(),
});
export type Pull = z.infer<typeof Pull>;

export const IssueComment = z.object({ id: z.number(), user: User, body: z.string().nullable() });
export const LineComment = IssueComment.extend({
  path: z.string(),
  line: z.number().nullish(),
  original_line: z.number().nullish(),
});
export const Review = IssueComment.extend({ state: z.string() });

export const CombinedStatus = z.object({
  total_count: z.number(),
  statuses: z.array(
    z.object({
      context: z.string(),
      state: z.string(),
      description: z.string().nullable(),
      target_url: z.string().nullable(),
    }),
  ),
});
export const CheckRuns = z.object({
  total_count: z.number(),
  check_runs: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      status: z.string(),
      conclusion: z.string().nullable(),
      html_url: z.string().nullish(),
      output: z.object({ title: z.string().nullish(), summary: z.string().nullish(), text: z.string().nullish() }),
    }),
  ),
});

export const Branch = z.object({
  protection: z
    .object({
      enabled: z.boolean().optional(),
      required_status_checks: z.object({ contexts: z.array(z.string()).optional() }).nullish(),
    })
    .optional(),
});
export const BranchRules = z.array(
  z.object({
    type: z.string(),
    parameters: z
      .object({ required_status_checks: z.array(z.object({ context: z.string() })).optional() })
      .passthrough()
      .optional(),
  }),
);

const Removal = z.object({
  id: z.string(),
  reason: z.string().nullable(),
  beforeCommit: z.object({ oid: z.string() }).nullable(),
});
export const Queue = z.object({
  repository: z.object({
    pullRequest: z.object({ isInMergeQueue: z.boolean(), timelineItems: z.object({ nodes: z.array(Removal) }) }),
  }),
});
