import { emptyScope, type Scope } from '@tidemill/core';

/** One scope for a whole batch: every id once and ascending, which is the order in which rows are locked. */
export function mergeScopes(scopes: Scope[]): Scope {
  const merged = emptyScope();
  for (const field of [
    'projects',
    'lockedProjects',
    'workers',
    'leasedBy',
    'tasks',
    'dependentsOf',
    'lastRunsOf',
    'scopedRunning',
    'edges',
    'records',
    'openRecordsOf',
    'readRecords',
  ] as const) {
    merged[field] = distinct(
      scopes.flatMap((scope) => scope[field]),
      (id) => id,
    );
  }
  merged.evidence = distinct(
    scopes.flatMap((scope) => scope.evidence),
    (wanted) => `${wanted.projectId}/${wanted.tree}`,
  );
  merged.projectRecords = distinct(
    scopes.flatMap((scope) => scope.projectRecords),
    (wanted) => `${wanted.projectId}/${wanted.noun}`,
  );
  merged.ready = mergeWindows(scopes.flatMap((scope) => scope.ready));
  return merged;
}

/** Each claim takes at most one candidate away from those after it, so one more row per claim keeps every window full. */
function mergeWindows(windows: Scope['ready']): Scope['ready'] {
  const merged = new Map<string, Scope['ready'][number]>();
  for (const window of windows) {
    const key = `${window.projectId}/${window.role}`;
    const known = merged.get(key);
    merged.set(key, known ? { ...known, limit: Math.max(known.limit, window.limit) + 1 } : window);
  }
  return [...merged.keys()].sort().map((key) => merged.get(key)!);
}

function distinct<T>(items: T[], key: (item: T) => string): T[] {
  if (items.length < 2) return items;
  const byKey = new Map(items.map((item) => [key(item), item]));
  return [...byKey.keys()].sort().map((each) => byKey.get(each)!);
}
