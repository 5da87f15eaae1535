import type { Reductions } from '../noun.ts';
import { changeTask } from '../task-row.ts';

export const mergeEvents = {
  'merge.prepared': (slice, body) =>
    changeTask(slice, body, () => ({ prepared: { commit: body.commit, tree: body.tree, base: body.base } })),
  'merge.abandoned': (slice, body) => changeTask(slice, body, () => ({ prepared: null })),
  'merge.landed': (slice, body) => changeTask(slice, body, () => ({ prepared: null, landedCommit: body.commit })),
} satisfies Reductions;
