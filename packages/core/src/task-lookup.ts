import { accountsOf } from './budget/lookup.ts';
import type { Lookup } from './scope.ts';

interface AboutTask {
  projectId: string;
  taskId: string;
}

export const taskAlone = ({ taskId }: AboutTask): Lookup[] => [{ find: 'tasks', by: taskId }];

/** The task and the run that may be under way. */
export const taskAndRun = ({ taskId }: AboutTask): Lookup[] => [
  { find: 'tasks', by: taskId },
  { find: 'lastRunsOf', by: taskId },
];

/** The same, where the run may end, and with that be paid for. */
export const taskAndPaidRun = (about: AboutTask): Lookup[] => [...taskAndRun(about), ...accountsOf(about.projectId)];

/** All that a person's decision about a task may change: its run, its questions, and who waits for it. */
export const steeredTask = (about: AboutTask): Lookup[] => [
  ...taskAndPaidRun(about),
  { find: 'dependentsOf', by: about.taskId },
  { find: 'openRecordsOf', by: about.taskId },
];

/** The end of a stage: where the task goes from there, and what is asked about it. */
export const endingStage = (about: AboutTask & { tree?: string }): Lookup[] => [
  ...taskAndRun(about),
  { find: 'dependentsOf', by: about.taskId },
  { find: 'openRecordsOf', by: about.taskId },
  // The conflict that is one too many raises an alert.
  { find: 'openConflicts', by: about.projectId },
  { find: 'projectRecords', by: { projectId: about.projectId, noun: 'preference' } },
  ...(about.tree ? [{ find: 'evidence' as const, by: { projectId: about.projectId, tree: about.tree } }] : []),
];

/** A question that is asked in the middle of a stage. */
export const askingTask = (about: AboutTask): Lookup[] => [
  ...taskAndRun(about),
  { find: 'openRecordsOf', by: about.taskId },
  { find: 'projectRecords', by: { projectId: about.projectId, noun: 'preference' } },
];
