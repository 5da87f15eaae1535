import { z } from 'zod';
import { CutText, TaskDiff } from './view.ts';

/** One file of a task's change. */
export const ChangedFileView = z.object({
  path: z.string(),
  /** The old path of a renamed file. */
  from: z.string().nullable(),
  status: z.enum(['added', 'changed', 'deleted', 'renamed']),
});
export type ChangedFileView = z.infer<typeof ChangedFileView>;

export const TaskFiles = z.object({ of: TaskDiff.shape.of, files: z.array(ChangedFileView) });
export type TaskFiles = z.infer<typeof TaskFiles>;

/** One side of a file. Binary files, links and submodules have no text here. */
export const FileSide = CutText.extend({ isText: z.boolean() });
export type FileSide = z.infer<typeof FileSide>;

/** Null: the file does not exist on that side. */
export const TaskFile = ChangedFileView.extend({ before: FileSide.nullable(), after: FileSide.nullable() });
export type TaskFile = z.infer<typeof TaskFile>;
