/** What agents work on. Runs, leases, costs and denials belong to a subject. */
export type SubjectKind = 'task' | 'project';
