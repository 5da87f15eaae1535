import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';

export const LEAST_CRITERIA = 3;
export const MOST_EFFORT_HOURS = 8;

const RepositoryPath = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine(
    (path) => !path.startsWith('/') && !/^[a-z]:/i.test(path) && !path.split(/[\\/]/).includes('..'),
    'is a path inside the repository, such as src/app.ts',
  );

/** An improvement that an agent proposes. */
export const ProposalDraft = z.object({
  title: PlainLine.min(1, 'a proposal needs a title').max(200, 'a title has at most 200 characters'),
  description: PlainText.trim().min(1, 'says what is better afterwards, and which people it helps').max(20_000),
  /** What must hold when it is done. */
  criteria: z
    .array(PlainText.trim().min(1).max(2_000))
    .min(LEAST_CRITERIA, `needs at least ${LEAST_CRITERIA} criteria that a test can check`)
    .max(20, 'has at most 20 criteria: propose something smaller'),
  approach: PlainText.max(20_000).default(''),
  effortHours: z
    .number()
    .positive('is the effort in hours')
    .max(MOST_EFFORT_HOURS, `is at most ${MOST_EFFORT_HOURS}: propose a smaller part that is useful by itself`),
  /** Files that exist and that it changes or depends on. */
  files: z.array(RepositoryPath).max(100).default([]),
  /** Files that it creates. */
  newFiles: z.array(RepositoryPath).max(100).default([]),
  /** Packages of the project, or tasks (`#12`), that it builds on. They must exist. */
  dependencies: z.array(PlainLine.min(1).max(200)).max(50).default([]),
});
export type ProposalDraft = z.infer<typeof ProposalDraft>;

/** Other work that is like it. */
export const RelatedWork = z.object({
  /** `#12`, or `proposal 7`. */
  ref: z.string(),
  title: z.string(),
  /** Open, landed, refused and so on. */
  state: z.string(),
  /** From 0 to 1. */
  likeness: z.number(),
});
export type RelatedWork = z.infer<typeof RelatedWork>;

/**
 *   checking ──▶ waiting ──approve──▶ accepted ──▶ its task landed, was cancelled, or was reverted
 *      │            └──refuse──▶ refused
 *      └──▶ duplicate, invalid
 */
export const ProposalStatus = z.enum(['checking', 'waiting', 'accepted', 'refused', 'duplicate', 'invalid']);
export type ProposalStatus = z.infer<typeof ProposalStatus>;

export const ProposalOutcome = z.enum(['landed', 'cancelled', 'reverted']);
export type ProposalOutcome = z.infer<typeof ProposalOutcome>;

export const Score = z.number().int('is a whole number').min(0, 'is from 0 to 10').max(10, 'is from 0 to 10');

export const Proposal = z.object({
  noun: z.literal('proposal'),
  id: z.string(),
  projectId: z.string(),
  categoryId: z.string(),
  /** The category's slug. */
  category: z.string(),
  /** Its name for people. 0 until it was checked. */
  number: z.number().int(),
  jobId: z.string(),
  draft: ProposalDraft,
  status: ProposalStatus,
  /** Why it is refused, a duplicate or invalid. */
  why: z.string(),
  related: z.array(RelatedWork),
  taskId: z.string().nullable(),
  /** A person's score. */
  score: Score.nullable(),
  decidedBy: Actor.nullable(),
  /** What became of its task. */
  outcome: ProposalOutcome.nullable(),
  createdAt: z.number(),
  decidedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
});
export type Proposal = z.infer<typeof Proposal>;

/** Something is still to happen with it: a check, a decision, or the work on its task. */
export const isOpenProposal = ({ status, outcome }: Pick<Proposal, 'status' | 'outcome'>) =>
  status === 'checking' || status === 'waiting' || (status === 'accepted' && outcome === null);

export const proposalKind = recordKind(Proposal, (proposal) => ({
  parent: proposal.categoryId,
  isOpen: isOpenProposal(proposal),
  dueAt: null,
}));
