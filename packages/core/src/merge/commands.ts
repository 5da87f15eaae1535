import type { Fence } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { leasedTask } from '../task-lookup.ts';
import { workAndRun } from '../work.ts';
import { abandonMerge, landMerge, offerBranch, prepareMerge } from './merge.ts';

export interface MergeCommands {
  /** `batch`: the last commit of the tasks that land together, whose tree was proven for all of them. */
  'merge.prepare': { commit: string; tree: string; base: string; batch?: { commit: string; tree: string } } & Fence;
  'merge.abandon': { why: string } & Fence;
  /** The task's branch was pushed, and others merge it. */
  'merge.offer': { commit: string; tree: string; name: string } & Fence;
  'merge.land': { commit: string; workers?: string[] } & Fence;
}

export const mergeCommands: CommandParts<keyof MergeCommands> = {
  'merge.prepare': {
    scope: (command) => [
      ...leasedTask(command),
      look('evidenceFor', command.projectId, command.batch?.tree ?? command.tree),
    ],
    decide: prepareMerge,
  },
  'merge.abandon': { scope: leasedTask, decide: abandonMerge },
  'merge.offer': {
    scope: (command) => [...leasedTask(command), look('evidenceFor', command.projectId, command.tree)],
    decide: offerBranch,
  },
  'merge.land': {
    scope: (command) => [
      ...(command.workers ?? []).map((id) => look('worker', id)),
      ...workAndRun(command),
      look('dependentsOf', command.subjectId),
    ],
    decide: landMerge,
  },
};
