/** What agents work on. Runs, leases, questions, costs and denials belong to a subject. */
export type SubjectKind = 'task' | 'project';

/** Ids start with the noun they name: `task_…`. */
export const isTaskId = (subjectId: string): boolean => subjectId.startsWith('task_');
