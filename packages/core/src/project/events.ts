import { changesNothing, type Reductions } from '../noun.ts';

export const projectEvents = {
  'project.registered': (slice, { name, root, rules }, { projectId, at }) =>
    slice.projects.put({
      id: projectId,
      name,
      root,
      createdAt: at,
      nextNumber: 1,
      nextQuestion: 1,
      rules,
      evidence: { head: '', count: 0 },
    }),
  'project.configured': (slice, { rules }, { projectId }) =>
    slice.projects.put({ ...slice.projects.get(projectId)!, rules }),
  'log.unreadable': changesNothing,
} satisfies Reductions;
