import type { EventBody, Role, Task } from '@tidemill/contract';

export function newTask(
  projectId: string,
  at: number,
  created: Extract<EventBody, { type: 'task.created' }>,
  role: Role | null,
): Task {
  const { taskId, type: _type, ...given } = created;
  return {
    ...given,
    id: taskId,
    projectId,
    stage: 'open',
    stageSince: at,
    role,
    createdAt: at,
    lease: null,
    fence: 0,
    head: null,
    builders: [],
    counters: { failures: {}, reviewCycles: 0, interruptions: 0, fingerprints: {} },
    rework: false,
    feedback: [],
    context: [],
    plan: '',
    subtasks: [],
    resumeStage: null,
    blocked: null,
    openQuestions: [],
    asked: {},
    questionCount: 0,
    approved: [],
    approvedContents: {},
    approvedChecks: [],
    assignee: null,
    waiting: null,
    notBefore: 0,
    prepared: null,
    landedCommit: null,
    lastRunId: null,
    runs: {},
  };
}
