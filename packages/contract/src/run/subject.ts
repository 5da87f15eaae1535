/** What agents work on. Runs, leases, costs, questions and denials belong to a subject. */
export type SubjectKind = 'task' | 'project' | 'idea' | 'spec' | 'feedback' | 'category' | 'replay' | 'reflection';
