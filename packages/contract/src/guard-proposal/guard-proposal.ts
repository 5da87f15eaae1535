import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { plainLine } from '../text/plain-text.ts';
import { CallEntry } from './recorded-call.ts';

/** At most this many proposals wait at the same time, without those of people. */
export const MOST_GUARD_PROPOSALS = 10;
/** After this many bypasses people are asked whether they still want the guard. */
export const MANY_BYPASSES = 3;
/** How long a bypass waits for its call. */
export const BYPASS_MS = 10 * 60_000;
/** Calls that are shown of each kind. */
export const SHOWN_CALLS = 10;

/** A recorded call in one line. */
export const ShownCall = CallEntry.pick({ at: true, source: true, from: true, tool: true }).extend({
  /** The command, or the file. */
  what: z.string(),
});
export type ShownCall = z.infer<typeof ShownCall>;

/** What a guard would have done with the recorded calls. */
export const GuardTest = z.object({
  /** Some of those that it would have refused, and some that it would have allowed, the newest first. */
  refused: z.array(ShownCall),
  allowed: z.array(ShownCall),
  refusedCount: z.number().int(),
  allowedCount: z.number().int(),
});
export type GuardTest = z.infer<typeof GuardTest>;

/**
 *   proposed ──▶ observing ──approve──▶ enforced ──▶ withdrawn
 *       │            │ ▲                    │
 *       └────────────┴─┼──refuse──▶ refused │
 *                      └──────edit──────────┘
 */
export const GuardProposalStatus = z.enum(['proposed', 'observing', 'enforced', 'refused', 'withdrawn']);
export type GuardProposalStatus = z.infer<typeof GuardProposalStatus>;

/** A bypass that waits for its one call. */
export const GuardBypass = z.object({
  by: Actor,
  why: z.string(),
  until: z.number(),
  /** The task whose agent may make the call. Null: the person's own session. */
  taskId: z.string().nullable(),
});
export type GuardBypass = z.infer<typeof GuardBypass>;

/** A guard that Tidemill, a person or an agent proposes. It becomes the file `.tidemill/guards/learned-NAME.yaml`. */
export const GuardProposal = z.object({
  noun: z.literal('guard_proposal'),
  id: z.string(),
  projectId: z.string(),
  /** The name of the guard. */
  name: z.string(),
  /** A list with this guard, without `observe`. */
  yaml: z.string(),
  /** What repeats: one proposal per key. */
  key: z.string(),
  /** What the guard matches, without its name and its reason, as a hash: one proposal per rule. */
  rule: z.string(),
  why: z.string(),
  traceIds: z.array(z.string()),
  ...GuardTest.shape,
  status: GuardProposalStatus,
  proposedBy: Actor,
  decidedBy: Actor.nullable(),
  /** Why it was refused or withdrawn. */
  decidedWhy: z.string(),
  /** How many calls it would have refused while it observed, and the newest of them. */
  observedCount: z.number().int(),
  observed: z.array(ShownCall),
  /** How often a person let one call pass. */
  bypasses: z.number().int(),
  bypass: GuardBypass.nullable(),
  createdAt: z.number(),
  observedSince: z.number().nullable(),
  decidedAt: z.number().nullable(),
});
export type GuardProposal = z.infer<typeof GuardProposal>;

/** It waits for a decision, or it holds. */
export const isLiveGuard = ({ status }: Pick<GuardProposal, 'status'>) =>
  status === 'proposed' || status === 'observing' || status === 'enforced';

export const guardFile = (name: string) => `.tidemill/guards/learned-${name}.yaml`;

export const guardProposalKind = recordKind(GuardProposal, (proposal) => ({
  parent: proposal.projectId,
  isOpen: isLiveGuard(proposal),
  dueAt: null,
}));

/** A proposal as people see it. */
export const GuardProposalView = GuardProposal.extend({
  file: z.string(),
  /** Whether the file is as Tidemill wrote it. */
  fileState: z.enum(['same', 'changed', 'missing']),
});
export type GuardProposalView = z.infer<typeof GuardProposalView>;

/** The guard that one call may pass. A built-in one has no proposal, only its name. */
export const PassedGuard = GuardProposalView.partial().extend({ name: z.string() });
export type PassedGuard = z.infer<typeof PassedGuard>;

const FILE_HEAD =
  '# Proposed by Tidemill: `tidemill guards` says why, and approves, refuses or withdraws it.\n# With `observe: true` it refuses nothing; what it would refuse is recorded.\n';

/** The file of a guard. `yaml` is a list with one guard in block form. */
export const guardFileText = ({ yaml }: Pick<GuardProposal, 'yaml'>, mode: 'observe' | 'enforce') =>
  `${FILE_HEAD}${yaml}${mode === 'observe' ? '  observe: true\n' : ''}`;

/** A recorded call in one line: its command, its file, or its input. */
export function shownCall({
  at,
  source,
  from,
  tool,
  input,
}: Pick<CallEntry, 'at' | 'source' | 'from' | 'tool' | 'input'>): ShownCall {
  const named = [input.command, input.file_path, input.notebook_path, input.path, input.pattern];
  const what = named.find((value) => typeof value === 'string') ?? JSON.stringify(input);
  return { at, source, from, tool, what: plainLine(what).slice(0, 200) };
}
