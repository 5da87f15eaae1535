import type { Reductions } from '../noun.ts';
import { changeTask } from '../task-row.ts';

export const mergeEvents = {
  'merge.prepared': (slice, body) =>
    changeTask(slice, body, () => {
      const { commit, tree, base, lands } = body;
      return { prepared: lands ? { commit, tree, base, lands } : { commit, tree, base } };
    }),
  'merge.abandoned': (slice, body) => changeTask(slice, body, () => ({ prepared: null })),
  'merge.offered': (slice, body) =>
    changeTask(slice, body, () => ({ offered: { commit: body.commit, tree: body.tree, name: body.name } })),
  'merge.landed': (slice, body) => changeTask(slice, body, () => ({ prepared: null, landedCommit: body.commit })),
} satisfies Reductions;
