import { changesNothing, type Reductions } from '../noun.ts';

export const projectEvents = {
  'project.registered': (slice, { name, root, rules, firstCommit }, { projectId, at }) =>
    slice.projects.put({
      id: projectId,
      name,
      root,
      firstCommit,
      createdAt: at,
      nextNumber: 1,
      nextFeedback: 1,
      nextDelivery: 1,
      nextQuestion: 1,
      nextIdea: 1,
      rules,
      evidence: { head: '', count: 0 },
    }),
  'project.moved': (slice, { root }, { projectId }) => slice.projects.put({ ...slice.projects.get(projectId)!, root }),
  'project.configured': (slice, { rules }, { projectId }) =>
    slice.projects.put({ ...slice.projects.get(projectId)!, rules }),
  'log.unreadable': changesNothing,
} satisfies Reductions;
