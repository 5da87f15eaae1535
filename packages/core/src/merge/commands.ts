import type { Fence } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { leasedTask } from '../task-lookup.ts';
import { workAndRun } from '../work.ts';
import { abandonMerge, landMerge, prepareMerge } from './merge.ts';

export interface MergeCommands {
  'merge.prepare': { commit: string; tree: string; base: string } & Fence;
  'merge.abandon': { why: string } & Fence;
  'merge.land': { commit: string; workers?: string[] } & Fence;
}

export const mergeCommands: CommandParts<keyof MergeCommands> = {
  'merge.prepare': {
    scope: (command) => [...leasedTask(command), look('evidenceFor', command.projectId, command.tree)],
    decide: prepareMerge,
  },
  'merge.abandon': { scope: leasedTask, decide: abandonMerge },
  'merge.land': {
    scope: (command) => [
      ...(command.workers ?? []).map((id) => look('worker', id)),
      ...workAndRun(command),
      look('dependentsOf', command.subjectId),
    ],
    decide: landMerge,
  },
};
