import { accountsOf } from './budget/lookup.ts';
import { type Lookup, look } from './lookup.ts';
import { workAndRun } from './work.ts';

interface AboutTask {
  projectId: string;
  taskId: string;
}

interface AboutWork {
  projectId: string;
  subjectId: string;
  jobId?: string;
}

export const taskAlone = ({ taskId }: AboutTask): Lookup[] => [look('task', taskId)];
export const leasedTask = ({ subjectId }: AboutWork): Lookup[] => [look('task', subjectId)];

/** The task and its run, if any. */
const taskAndRun = ({ taskId }: AboutTask): Lookup[] => [look('task', taskId), look('lastRunOf', taskId)];

/** Leased work, its run, and the accounts that pay when it ends. */
export const workAndPaidRun = (about: AboutWork): Lookup[] => [...workAndRun(about), ...accountsOf(about.projectId)];

/** A task, its run, and the accounts that pay when it ends. */
const taskAndPaidRun = (about: AboutTask): Lookup[] => [...taskAndRun(about), ...accountsOf(about.projectId)];

/** All that a person's decision about a task may change: its run, its questions, and its dependents. */
export const steeredTask = (about: AboutTask): Lookup[] => [
  ...taskAndPaidRun(about),
  look('dependentsOf', about.taskId),
  look('openRecordsOf', about.taskId),
];

/** The end of a stage: where the task goes from there, and what is asked about it. */
export const endingStage = (about: AboutWork & { tree?: string }): Lookup[] => [
  ...workAndRun(about),
  look('dependentsOf', about.subjectId),
  look('openRecordsOf', about.subjectId),
  // Too many open conflicts raise an alert.
  look('openConflicts', about.projectId),
  look('recordsOf', about.projectId, 'preference'),
  ...(about.tree ? [look('evidenceFor', about.projectId, about.tree)] : []),
];

/** A question that is asked in the middle of a stage. */
export const askingTask = (about: AboutWork): Lookup[] => [
  ...workAndRun(about),
  look('openRecordsOf', about.subjectId),
  look('recordsOf', about.projectId, 'preference'),
];
