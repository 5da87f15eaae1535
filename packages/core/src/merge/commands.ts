import type { Feedback, PullRequestRef } from '@tidemill/contract';
import type { Fence } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { askingTask, leasedTask, steeredTask } from '../task-lookup.ts';
import { workAndRun } from '../work.ts';
import { abandonMerge, landMerge, offerBranch, prepareMerge } from './merge.ts';
import { askAboutPull, noteMerged, notePull, queuePull, recordComments } from './pull.ts';

export interface MergeCommands {
  /** `batch`: the last commit of the tasks that land together, and the tree that proves this one: its own, or that of the last. */
  'merge.prepare': { commit: string; tree: string; base: string; batch?: { commit: string; tree: string } } & Fence;
  'merge.abandon': { why: string } & Fence;
  /** The task's branch was pushed, and others merge it. */
  'merge.offer': { commit: string; tree: string; name: string } & Fence;
  /** The pull request of the task, opened or found again. */
  'merge.note_pull': { number: number; url: string } & Fence;
  /** The pull request goes into the forge's merge queue. `after`: its last removal from there; empty: none. */
  'merge.queue': { after: string } & Fence;
  /** Seen on the forge: the pull request of a task that was not offered is merged. `head`: its last commit. */
  'merge.note_merged': { projectId: string; taskId: string; number: number; head: string };
  /** People commented on the pull request: the task goes back to its builder. */
  'merge.record_comments': { seen: PullRequestRef['seen']; authors: string[]; feedback: Feedback[] } & Fence;
  /** Something about the pull request needs a person. `about` names exactly what, so that it is asked once. */
  'merge.ask': { about: string; text: string; context: string; approves: string } & Fence;
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
  'merge.note_pull': { scope: leasedTask, decide: notePull },
  'merge.queue': { scope: leasedTask, decide: queuePull },
  'merge.note_merged': { scope: steeredTask, decide: noteMerged },
  'merge.record_comments': { scope: askingTask, decide: recordComments },
  'merge.ask': { scope: askingTask, decide: askAboutPull },
  'merge.land': {
    scope: (command) => [
      ...(command.workers ?? []).map((id) => look('worker', id)),
      ...workAndRun(command),
      look('dependentsOf', command.subjectId),
    ],
    decide: landMerge,
  },
};
