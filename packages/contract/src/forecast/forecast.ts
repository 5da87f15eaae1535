import { z } from 'zod';

/** How much a task changes, against its base. */
export const ChangeSize = z.object({ files: z.number().int(), lines: z.number().int() });
export type ChangeSize = z.infer<typeof ChangeSize>;

/** A conflict that will come when both sides land: the changes exist, and git cannot merge them. */
export const ComingConflict = z.object({
  /** The other task; null: the target. */
  taskId: z.string().nullable(),
  number: z.number().int().nullable(),
  /** The first of the files in conflict. */
  files: z.array(z.string()),
  fileCount: z.number().int(),
  since: z.number(),
  size: ChangeSize,
  /** The other task's; null for the target. */
  otherSize: ChangeSize.nullable(),
});
export type ComingConflict = z.infer<typeof ComingConflict>;

/** A coming conflict for readers. Without a title and a stage: the other side is the target. */
export const ComingConflictView = ComingConflict.omit({ taskId: true }).extend({
  title: z.string().nullable(),
  stage: z.string().nullable(),
  /** This task lands first and the other is reworked. The target never is. */
  landsFirst: z.boolean(),
  /** The other task is being built, and this one waits for it. */
  holds: z.boolean(),
});
export type ComingConflictView = z.infer<typeof ComingConflictView>;

/** What the conflict is with, in words. */
export const comingWith = ({ number }: Pick<ComingConflict, 'number'>, target = 'the target'): string =>
  number === null ? target : `#${number}`;

/** The whole sentence, for a list about one task. */
export function comingSentence(coming: ComingConflictView, target = 'the target'): string {
  const { number, landsFirst, holds } = coming;
  const what = `will conflict with ${comingWith(coming, target)} in ${comingFiles(coming)}`;
  if (number === null) return what;
  if (holds) return `${what}; waits while #${number} is being built`;
  return `${what}; ${landsFirst ? `#${number}` : 'this one'} is smaller and will be reworked`;
}

/** The files in one line: the first three, and how many more. */
export function comingFiles({ files, fileCount }: Pick<ComingConflict, 'files' | 'fileCount'>): string {
  const named = files.slice(0, 3);
  const more = fileCount - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
