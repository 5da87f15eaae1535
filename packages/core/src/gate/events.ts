import type { Reductions } from '../noun.ts';

export const gateEvents = {
  'evidence.recorded': (slice, { evidence }, { projectId }) => {
    slice.evidence.put(evidence);
    const project = slice.projects.get(projectId)!;
    slice.projects.put({ ...project, evidence: { head: evidence.hash, count: evidence.position } });
  },
} satisfies Reductions;
