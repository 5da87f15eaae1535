import { z } from 'zod';

/** A task whose change conflicts with the target and waits for a person. */
export const ConflictSummary = z.object({
  number: z.number(),
  title: z.string(),
  branch: z.string(),
  target: z.string(),
  since: z.number(),
  /** `resolving` when a file of it was resolved here. */
  status: z.enum(['pending', 'resolving']),
  files: z.array(z.string()),
  /** Why no agent resolves it. */
  why: z.string(),
});
export type ConflictSummary = z.infer<typeof ConflictSummary>;

/**
 * Something that the target changed and a resolved merge does not have:
 * `lines` and `file` are missing, `deleted_lines` and `deleted_file` are there although the target deleted them, `renamed` is at
 * its old path (`detail`), `mode` is not as the target set it (`detail`), `content` cannot be compared as text.
 */
export const MergeLoss = z.object({
  /** In the target; for a deleted file, where it was. */
  path: z.string(),
  kind: z.enum(['lines', 'deleted_lines', 'file', 'deleted_file', 'renamed', 'mode', 'content']),
  detail: z.string(),
  /** Numbered as in the target; deleted ones as before the deletion. Not more than are shown. */
  lines: z.array(z.object({ line: z.number().int(), text: z.string() })),
  /** How many there are. */
  lineCount: z.number().int(),
  /** Identifies exactly this loss: a person's override is for it only. */
  content: z.string(),
});
export type MergeLoss = z.infer<typeof MergeLoss>;

/** A task's conflicts with the target so far, until a person intervenes. */
export const MetConflicts = z.object({
  /** The target's commit of the last one. */
  base: z.string(),
  at: z.number(),
  /** Conflicts that were resolved and proven, and then overtaken by a landing that conflicts again. */
  resolved: z.number().int(),
  /** The tasks that overtook it, in this order. Commits of people are not among them. */
  overtakenBy: z.array(z.number().int()),
  /** How often it was tried again while nothing else could land. */
  idleTries: z.number().int().default(0),
});
export type MetConflicts = z.infer<typeof MetConflicts>;

/** `resolved 3 times, overtaken by #5, #8, #2`; empty if no resolution was overtaken. */
export function overtakenText({ resolved, overtakenBy }: Pick<MetConflicts, 'resolved' | 'overtakenBy'>): string {
  if (resolved === 0) return '';
  const times = resolved === 1 ? 'once' : `${resolved} times`;
  const by = overtakenBy.length > 0 ? overtakenBy.map((number) => `#${number}`).join(', ') : 'commits of others';
  return `resolved ${times}, overtaken by ${by}`;
}

/** How a person resolved a file: by its text, or by taking one side. */
export const FileResolution = z.enum(['text', 'ours', 'theirs', 'deleted']);
export type FileResolution = z.infer<typeof FileResolution>;

/** Only `text` can be edited here. For the others a person takes one side, or uses git. */
export const ConflictForm = z.enum(['text', 'binary', 'large', 'symlink', 'submodule']);
export type ConflictForm = z.infer<typeof ConflictForm>;

/** What the two sides did to it. A renamed file is shown as one deleted and one added file. */
export const ConflictKind = z.enum([
  ...['both_changed', 'both_added', 'both_deleted', 'deleted_by_task', 'deleted_by_target'],
  ...['added_by_task', 'added_by_target'],
] as const);
export type ConflictKind = z.infer<typeof ConflictKind>;

/** One side of a file: null where that side has no such file, or where it is not shown. */
const side = z.string().nullable();

export const ConflictFile = z.object({
  path: z.string(),
  kind: ConflictKind,
  form: ConflictForm,
  /** Binary and very large files have no text here: a person resolves them with git. */
  isText: z.boolean(),
  base: side,
  /** The target's. */
  theirs: side,
  /** The task's. */
  ours: side,
  /** The file in the worktree, with markers while it is not resolved. */
  current: side,
  isResolved: z.boolean(),
  /** Conflict markers are left in `current`. */
  hasMarkers: z.boolean(),
});
export type ConflictFile = z.infer<typeof ConflictFile>;

export const ConflictDetail = ConflictSummary.omit({ files: true }).extend({
  worktree: z.string(),
  /** The target has moved since this merge began. What is resolved stays; landing merges the rest. */
  isBehind: z.boolean(),
  files: z.array(ConflictFile),
  /** What the files as they are now would drop of the target. Empty while conflict markers are left. */
  losses: z.array(MergeLoss),
  /** The commands that do the same in a terminal, in this order. */
  commands: z.array(z.string()),
});
export type ConflictDetail = z.infer<typeof ConflictDetail>;

/** How one file is resolved: by its text, or by taking one side. */
export const Resolution = z.union([
  z.strictObject({ text: z.string().max(5_000_000) }),
  z.strictObject({ take: FileResolution.exclude(['text']) }),
]);
export type Resolution = z.infer<typeof Resolution>;
