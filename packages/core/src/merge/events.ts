import type { Reductions } from '../noun.ts';
import { changeTask } from '../task-row.ts';

export const mergeEvents = {
  'merge.prepared': (slice, body) =>
    changeTask(slice, body, () => {
      const { commit, tree, base, lands } = body;
      return { prepared: lands ? { commit, tree, base, lands } : { commit, tree, base } };
    }),
  'merge.abandoned': (slice, body) => changeTask(slice, body, () => ({ prepared: null })),
  'merge.offered': (slice, { commit, tree, name, ...body }, { at }) =>
    changeTask(slice, body, () => ({ offered: { commit, tree, name, at } })),
  'merge.pull_opened': (slice, { number, url, ...body }) =>
    changeTask(slice, body, () => ({ pull: { number, url, seen: { comment: 0, line: 0, review: 0 } } })),
  'merge.commented': (slice, body) =>
    changeTask(slice, body, ({ pull }) =>
      pull?.number === body.number ? { pull: { ...pull, seen: body.seen } } : null,
    ),
  'merge.queued': (slice, { after, ...body }) =>
    changeTask(slice, body, ({ offered }) => (offered ? { offered: { ...offered, queuedAfter: after } } : null)),
  'merge.landed': (slice, body) => changeTask(slice, body, () => ({ prepared: null, landedCommit: body.commit })),
} satisfies Reductions;
